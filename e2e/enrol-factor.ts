import { URI } from 'otpauth';
import type { SessionAnswer } from '#contract/auth.ts';
import type { ProgramClient } from '#demo/program-client.ts';

/** Sets up an authenticator app where the program demands one: for an administrator of live mode. */
export async function enrolWhereRequired(client: ProgramClient): Promise<ProgramClient> {
  const { mustEnrolFactor } = await client.get<SessionAnswer>('/api/auth/user');
  if (!mustEnrolFactor) return client;
  const { otpauthUrl } = await client.post<{ otpauthUrl: string }>('/api/auth/totp', {});
  await client.post('/api/auth/totp/confirm', { code: URI.parse(otpauthUrl).generate() });
  return client;
}
