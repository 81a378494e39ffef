import { z } from 'zod';

/** Control and format characters (zero-width, direction marks) and lone surrogates. */
const UNSTORABLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

/** Text of a limited length. Longer text is refused before any other rule checks it. */
export const limitedText = (maximum: number, error?: string) =>
  z.string().max(maximum, { error, abort: true });

/** One line of text that can be stored and shown. */
export const plainText = (what: string, maximum: number) =>
  limitedText(maximum, `${what} must be at most ${maximum} characters`).refine(
    isStorableLine,
    `${what} contains characters that are not allowed`,
  );

/** No user chooses a longer password, so longer ones are refused before they are hashed. */
export const LONGEST_PASSWORD = 1000;

export const tooLongPassword = (what: string) => `${what} must be at most ${LONGEST_PASSWORD} characters`;

/** The password of the caller's own account, entered again as confirmation. */
export const ownPassword = (what: string) =>
  limitedText(LONGEST_PASSWORD, tooLongPassword(what)).min(1, `${what} is required`);

/** The rule of `plainText` as a predicate. */
export const isPlainText = (text: string, maximum: number): boolean =>
  text.length <= maximum && isStorableLine(text);

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

function isStorableLine(text: string): boolean {
  return PRINTABLE_ASCII.test(text) || !UNSTORABLE.test(text);
}
