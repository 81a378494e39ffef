import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import type { Clock } from '#server/platform/clock.ts';
import type { World } from '../world.ts';
import { type SoftwarePasskey, softwarePasskey } from './software-passkey.ts';
import { type Answer, cookieOf, type TestClient, testClient } from './test-client.ts';

const STEP_MS = 30_000;

/** An authenticator app in use. */
export interface TestAuthenticator {
  secret: string;
  recoveryCodes: string[];
  /** The code at this moment, or some steps of thirty seconds later. */
  code(steps?: number): string;
}

export const codeOf = (secret: string, atMs: number): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: atMs });

export async function enrolTotp(client: TestClient, clock: Clock): Promise<TestAuthenticator> {
  const { secret } = (await client.post('/api/auth/totp')).json<{ secret: string }>();
  const code = (steps = 0) => codeOf(secret, clock.now().getTime() + steps * STEP_MS);
  const answer = await client.post('/api/auth/totp/confirm', { code: code() });
  expect(answer.statusCode, answer.body).toBe(200);
  return { secret, code, recoveryCodes: answer.json<{ recoveryCodes: string[] }>().recoveryCodes };
}

export async function enrolPasskey(
  client: TestClient,
  passkey = softwarePasskey(),
): Promise<SoftwarePasskey> {
  const options = (await client.post('/api/auth/passkeys/options')).json();
  const body = { name: 'Phone', response: passkey.create(options) };
  const answer = await client.post('/api/auth/passkeys', body);
  expect(answer.statusCode, answer.body).toBe(200);
  return passkey;
}

/** Gives the right password of a user with a second factor. Returns a client with the cookie of half a sign-in. */
export async function halfSignIn(
  board: Pick<World, 'app'>,
  { username, password }: { username: string; password: string },
  remoteAddress?: string,
): Promise<TestClient> {
  const from = remoteAddress === undefined ? {} : { remoteAddress };
  const answer = await testClient(board.app).post('/api/auth/login', { username, password }, from);
  expect(answer.json(), answer.body).toHaveProperty('factorRequired');
  return testClient(board.app, cookieOf(answer));
}

export const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).statusCode;
