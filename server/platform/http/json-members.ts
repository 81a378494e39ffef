/**
 * The first name that occurs twice in one object of a valid JSON text, escapes resolved; null when there is none. A
 * parser keeps one of the two values, and nobody knows which one the sender meant.
 */
export function findRepeatedName(text: string): string | null {
  /** The names so far of each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (isName && names) {
        const name = nameOf(text.slice(at, end + 1));
        if (names.has(name)) return name;
        names.add(name);
      }
      isName = false;
      at = end;
    } else if (char === '{') {
      open.push(new Set());
      isName = true;
    } else if (char === '[') open.push(null);
    else if (char === '}' || char === ']') open.pop();
    else if (char === ',') isName = true;
  }
  return null;
}

/** Odd characters are escaped again: the name is shown and stored with the refusal. */
const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? JSON.stringify(JSON.parse(quoted)).slice(1, -1) : quoted.slice(1, -1);

/**
 * A valid JSON text in which `write` has replaced the numbers that a double does not hold exactly: an id beyond 2^53,
 * a price with twenty digits. The text itself when there are none.
 */
export function replaceInexactNumbers(text: string, write: (number: string) => string): string {
  if (!MAY_BE_INEXACT.test(text)) return text;
  let rest = 0;
  let replaced = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    else {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(text) ?? [];
      if (number === undefined) continue;
      if (!isExact(number)) {
        replaced += text.slice(rest, at) + write(number);
        rest = at + number.length;
      }
      at += number.length - 1;
    }
  }
  return replaced + text.slice(rest);
}

const NUMBER = /-?\d[\d.]*(?:[eE][+-]?\d+)?/y;
/** Fifteen digits fit into any double; with an exponent, a number may be too small for one. */
const MAY_BE_INEXACT = /\d[\d.]{15}|\d[eE]/;

/** One beyond the range of a double is left to the reader, which refuses it. */
function isExact(number: string): boolean {
  const read = Number(number);
  return !Number.isFinite(read) || digitsOf(number) === digitsOf(String(read));
}

/** The digits that count: `-0.0120e5` and `12` have the same. */
const digitsOf = (number: string): string =>
  number
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');

/** The index of the quote that ends the string, or of the text's end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
