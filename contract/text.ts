import { z } from 'zod';

/** Control and format characters (zero-width, direction marks) and lone surrogates. */
const UNSTORABLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

/** Text of a limited length. What is longer is refused before any other rule looks at it. */
export const limitedText = (maximum: number, error?: string) =>
  z.string().max(maximum, { error, abort: true });

/** One line of text that can be stored and shown. */
export const plainText = (what: string, maximum: number) =>
  limitedText(maximum, `${what} must be at most ${maximum} characters`).refine(
    isStorableLine,
    `${what} contains characters that are not allowed`,
  );

/** Nobody chooses a longer password, and longer requests are not hashed. */
export const LONGEST_PASSWORD = 1000;

export const tooLongPassword = (what: string) => `${what} must be at most ${LONGEST_PASSWORD} characters`;

/** The password of the caller's own account, as it is asked for again. */
export const ownPassword = (what: string) =>
  limitedText(LONGEST_PASSWORD, tooLongPassword(what)).min(1, `${what} is required`);

/** The same rule where no schema is at hand. */
export const isPlainText = (text: string, maximum: number): boolean =>
  text.length <= maximum && isStorableLine(text);

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

function isStorableLine(text: string): boolean {
  return PRINTABLE_ASCII.test(text) || !UNSTORABLE.test(text);
}
