import { randomBytes } from 'node:crypto';

/**
 * Secrets that are found wherever they turn up: all contain one marker, which is searched for as plain text, base64,
 * base64url, hex and URL-encoded. It has only letters and digits, so URL encoding does not change it, and the two kinds
 * of base64 are the same.
 */
export interface Canaries {
  /** A new secret; what follows the marker makes encodings differ from the plain text. */
  next(what: string): string;
  /** Describes each canary in the content, with a few characters around it. */
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

/** The text in each encoding, at any place of a longer text. */
function formsOf(text: string): Record<string, string> {
  const hex = Buffer.from(text).toString('hex');
  return {
    plain: text,
    hex,
    'upper-case hex': hex.toUpperCase(),
    ...Object.fromEntries([0, 1, 2].map((offset) => [`base64 at ${offset}`, base64Inside(text, offset)])),
  };
}

/** The part of the base64 that depends only on the text, after so many bytes (of three) before it. */
function base64Inside(text: string, offset: number): string {
  const encoded = Buffer.from('x'.repeat(offset) + text)
    .toString('base64')
    .replace(/=+$/, '');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + text.length) * 8) / 6);
  return encoded.slice(start, end);
}
