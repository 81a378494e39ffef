import { randomBytes, randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, type Options, verify } from '@node-rs/argon2';
import { LONGEST_PASSWORD } from '#contract/text.ts';
import { AppError } from './http/errors.ts';

export type PasswordCost = Required<Pick<Options, 'memoryCost' | 'timeCost' | 'parallelism'>>;

/** OWASP's argon2id parameters; the library's default algorithm is argon2id. */
export const PASSWORD_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** 19 MiB each. One processor stays free for deliveries; one thread of libuv for files and names. */
export const MAX_AT_ONCE = Math.max(1, Math.min(3, availableParallelism() - 1));
/** Two to four seconds of work; further calls are refused immediately. */
export const MAX_WAITING = 100 * MAX_AT_ONCE;

// Groups of five characters, without those that look alike: 31^20 is 99 bits.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz2345678';
const GROUPS = 4;
const GROUP_LENGTH = 5;

let running = 0;
const waiting: (() => void)[] = [];
const unknownUserHashes = new Map<PasswordCost, Promise<string>>();

/** Easy to type once. */
export function generatePassword(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

export function hashPassword(password: string, cost: PasswordCost = PASSWORD_COST): Promise<string> {
  return inTurn(() => hash(password, cost));
}

/** Takes the same time for an unknown user, whose hash is null, as for a wrong password. */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
  cost: PasswordCost = PASSWORD_COST,
): Promise<boolean> {
  // No password is that long: takes the path of an unknown user.
  if (password.length > LONGEST_PASSWORD) return verifyPassword(null, '', cost);
  const against = passwordHash ?? (await prepareUnknownUserHash(cost));
  const matches = await inTurn(() => verify(against, password));
  return matches && passwordHash !== null;
}

/** Call ahead, so that the first unknown user does not take longer than the second. */
export function prepareUnknownUserHash(cost: PasswordCost = PASSWORD_COST): Promise<string> {
  const prepared = unknownUserHashes.get(cost) ?? hashPassword(randomBytes(16).toString('base64url'), cost);
  unknownUserHashes.set(cost, prepared);
  return prepared;
}

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= MAX_AT_ONCE) {
    if (waiting.length >= MAX_WAITING) throw new AppError('unavailable');
    // The call that ends hands its place over.
    await new Promise<void>((start) => waiting.push(start));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
