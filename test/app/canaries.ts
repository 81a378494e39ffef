import { randomBytes } from 'node:crypto';

/**
 * Secrets that are recognised wherever they turn up: all of them hold one marker, which is looked for as it stands and
 * as base64, base64url, hex and URL encoding make it. It is letters and digits alone, so URL encoding leaves it as it
 * is and the two kinds of base64 write it alike.
 */
export interface Canaries {
  /** A new secret; what follows the marker makes encodings differ from the plain text. */
  next(what: string): string;
  /** A word about each canary that is in there, with a few characters around it. */
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

/** The text as each encoding writes it, wherever in a longer text it stands. */
function formsOf(text: string): Record<string, string> {
  const hex = Buffer.from(text).toString('hex');
  return {
    plain: text,
    hex,
    'upper-case hex': hex.toUpperCase(),
    ...Object.fromEntries([0, 1, 2].map((offset) => [`base64 at ${offset}`, base64Inside(text, offset)])),
  };
}

/** What of the base64 is the text's alone, when so many bytes (of three) stand before it. */
function base64Inside(text: string, offset: number): string {
  const encoded = Buffer.from('x'.repeat(offset) + text)
    .toString('base64')
    .replace(/=+$/, '');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + text.length) * 8) / 6);
  return encoded.slice(start, end);
}
