import { z } from 'zod';

/** Control and format characters (zero-width, direction marks) and lone surrogates. */
const UNSTORABLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

/** One line of text that can be stored and shown. */
export const plainText = (maximum: number) =>
  z.string().max(maximum).refine(isStorableLine, 'Contains characters that are not allowed');

/** The same rule where no schema is at hand. */
export const isPlainText = (text: string, maximum: number): boolean =>
  text.length <= maximum && isStorableLine(text);

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

function isStorableLine(text: string): boolean {
  return PRINTABLE_ASCII.test(text) || !UNSTORABLE.test(text);
}
