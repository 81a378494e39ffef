import type { FieldError } from '#contract/errors.ts';
import { parseStrictJson } from '#server/platform/http/strict-json.ts';

export type Payload = Record<string, unknown>;

export type Refusal = { ok: false; message: string; errors: FieldError[] };

export const refusal = (path: string, message: string): Refusal => ({
  ok: false,
  message: path === '' ? message : `${path}: ${message}`,
  errors: [{ path, message }],
});

/** The body of a delivery as a JSON object that can be stored, whatever its content type. */
export function readPayload(body: Uint8Array): { ok: true; payload: Payload } | Refusal {
  const parsed = parseStrictJson(body);
  if (!parsed.ok) return refusal('', parsed.reason);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refusal('', 'The body is not a JSON object');
  }
  return findFault(value, '') ?? { ok: true, payload: value as Payload };
}

const PLACEHOLDER = /\{\{[^{}]*\}\}/;

function findFault(value: unknown, path: string): Refusal | null {
  if (typeof value === 'string') {
    const placeholder = PLACEHOLDER.exec(value);
    // TradingView sends unknown placeholders literally.
    if (placeholder !== null) return refusal(path, `is still the placeholder ${placeholder[0]}`);
    return null;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return refusal(path, 'is not a finite number');
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const fault = findFault(inner, path === '' ? key : `${path}.${key}`);
    if (fault !== null) return fault;
  }
  return null;
}
