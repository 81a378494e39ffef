import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { isLoopbackAddress, isLoopbackName } from './loopback.ts';

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Who may read the figures: whoever knows METRICS_TOKEN. Without one only this machine, asked directly and by its
 * own name: what a proxy passes on comes from this machine too, and so does a page whose name a browser was told to
 * look for here.
 */
export function mayReadMetrics(
  request: Pick<FastifyRequest, 'headers' | 'socket' | 'hostname'>,
  config: Pick<Config, 'metricsToken'>,
): boolean {
  if (config.metricsToken !== null) {
    const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), digest(config.metricsToken));
  }
  if (FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  return isLoopbackAddress(request.socket.remoteAddress) && isLoopbackName(request.hostname);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
