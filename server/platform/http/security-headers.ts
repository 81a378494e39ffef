import type { Area } from './request-areas.ts';

const STYLE_SOURCES = "'self'";

const policy = (styleSources: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styleSources}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const CONTENT_SECURITY_POLICY = policy(STYLE_SOURCES);
/** The API documentation page writes style attributes and elements of its own. */
export const DOCS_CONTENT_SECURITY_POLICY = policy("'self' 'unsafe-inline'");

const ALWAYS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  // For browsers that do not know frame-ancestors.
  'x-frame-options': 'DENY',
};

const ALWAYS_SECURE = { ...ALWAYS, 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
const NO_STORE = { 'cache-control': 'no-store' };
const ANSWERED = { plain: { ...ALWAYS, ...NO_STORE }, secure: { ...ALWAYS_SECURE, ...NO_STORE } };

/** The headers that every answer carries, errors included. */
export function securityHeaders(options: { area: Area; secure: boolean }): Record<string, string> {
  const { area, secure } = options;
  if (area === 'api' || area === 'hooks') return secure ? ANSWERED.secure : ANSWERED.plain;
  return secure ? ALWAYS_SECURE : ALWAYS;
}
