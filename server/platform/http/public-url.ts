import type { FastifyRequest } from 'fastify';
import { type Config, ConfigError } from '../config/config.ts';
import { isLoopbackName } from './source-address.ts';

/** For containers, load balancers and scrapers; /metrics checks the host itself. */
const UNDER_ANY_HOST = new Set(['/healthz', '/readyz', '/metrics']);

/** In demo and live mode, an address that other machines reach needs TLS, to protect passwords and API keys. */
export function checkPublicUrl(config: Pick<Config, 'host' | 'exchangeMode' | 'publicUrl'>): void {
  const { host, exchangeMode, publicUrl } = config;
  if (exchangeMode === 'paper' || publicUrl?.startsWith('https:')) return;
  const got = `PUBLIC_URL is ${publicUrl === null ? 'unset' : JSON.stringify(publicUrl)}`;
  const mode = `with EXCHANGE_MODE=${exchangeMode}`;
  if (!isLoopbackName(host)) {
    throw new ConfigError(
      `${got}; ${mode} and HOST=${host}, which other machines can reach, it takes the https:// address of the proxy in front, such as https://board.example.com`,
    );
  }
  if (publicUrl !== null && !isLoopbackName(new URL(publicUrl).hostname)) {
    throw new ConfigError(
      `${got}; ${mode} it takes an https:// address, or an http:// address of this machine such as http://localhost:3000`,
    );
  }
}

/**
 * Whether a request names another host than `PUBLIC_URL`, as in DNS rebinding. Deliveries are accepted under any host:
 * they carry a key and no cookie, and a 4xx loses an alert.
 */
export function isForOtherHost(
  request: Pick<FastifyRequest, 'area' | 'host' | 'routeOptions'>,
  publicUrl: URL,
): boolean {
  if (request.area === 'hooks' || request.host === publicUrl.host) return false;
  return !hasHost(publicUrl, request.host) && !UNDER_ANY_HOST.has(request.routeOptions.url ?? '');
}

/** The same host in another case, or with the protocol's default port. */
function hasHost({ protocol, origin }: URL, host: string): boolean {
  const address = `${protocol}//${host}`;
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(address) && new URL(address).origin === origin;
}
