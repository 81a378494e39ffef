import { randomBytes } from 'node:crypto';

/**
 * Test secrets that can be found in any output. All contain one marker, searched for as plain text, base64, base64url,
 * hex and URL-encoded. The marker has only letters and digits, so URL encoding does not change it and both kinds of
 * base64 are the same.
 */
export interface Canaries {
  /** Returns a new secret; the characters after the marker make its encodings differ from the plain text. */
  next(what: string): string;
  /** Describes each canary in the content with some context. */
  findIn(where: string, content: string | Buffer): string[];
}

const AROUND = 60;

export function createCanaries(): Canaries {
  const marker = `Canary${randomBytes(10).toString('hex')}`;
  const needles = Object.entries(formsOf(marker)).map(([form, text]) => ({ form, bytes: Buffer.from(text) }));
  let count = 0;
  return {
    next(what) {
      count += 1;
      return `${what}${marker}+/=&%~${count}${randomBytes(4).toString('hex')}`;
    },
    findIn(where, content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      return needles.flatMap(({ form, bytes: needle }) => {
        const at = bytes.indexOf(needle);
        if (at < 0) return [];
        const seen = bytes.subarray(Math.max(0, at - AROUND), at + needle.length + AROUND);
        return [`${where}, ${form}: ${seen.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '.')}`];
      });
    },
  };
}

/** The text in each encoding, as it appears inside a longer text. */
function formsOf(text: string): Record<string, string> {
  const hex = Buffer.from(text).toString('hex');
  return {
    plain: text,
    hex,
    'upper-case hex': hex.toUpperCase(),
    ...Object.fromEntries([0, 1, 2].map((offset) => [`base64 at ${offset}`, base64Inside(text, offset)])),
  };
}

/** The part of the base64 that depends only on the text, when `offset` bytes (modulo three) precede it. */
function base64Inside(text: string, offset: number): string {
  const encoded = Buffer.from('x'.repeat(offset) + text)
    .toString('base64')
    .replace(/=+$/, '');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + text.length) * 8) / 6);
  return encoded.slice(start, end);
}
