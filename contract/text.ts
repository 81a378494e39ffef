import { z } from 'zod';

/** Control and format characters (zero-width, direction marks) and lone surrogates. */
const UNSTORABLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

/** One line of text that can be stored and shown. */
export const plainText = (maximum: number) =>
  z
    .string()
    .max(maximum)
    .refine((text) => !UNSTORABLE.test(text), 'Contains characters that are not allowed');
