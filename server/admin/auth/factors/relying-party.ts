import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/http/errors.ts';

export interface RelyingParty {
  /** The host name to which a passkey belongs. */
  id: string;
  origin: string;
}

/** Under which name passkeys are made and used: that of `PUBLIC_URL`, or else of the request. */
export function relyingPartyOf(request: Pick<FastifyRequest, 'protocol' | 'host' | 'server'>): RelyingParty {
  const address = request.server.publicUrl ?? `${request.protocol}://${request.host}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  const id = url?.hostname ?? '';
  if (url === null || id === '' || isIP(id.replaceAll(/[[\]]/g, '')) !== 0) {
    throw new AppError('badRequest', {
      message: 'Passkeys need a host name: open Signal Board under its name instead of an IP address',
    });
  }
  return { id, origin: url.origin };
}
