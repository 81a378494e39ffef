/** Where a text stops being JSON, counted from 1 as editors do, and what is there. */
export interface JsonFault {
  line: number;
  column: number;
  /** 'unexpected "}"', 'it ends too early' */
  problem: string;
}

const BLANKS = /[ \t\n\r]*/y;
/** Without the closing quote, so that the match of a broken string ends at its fault. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string.
const OPEN_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/**
 * The first fault of a text that is not JSON: engines word their messages differently, and some name no position. Null
 * for JSON. The text's nesting must be bounded.
 */
export function findJsonFault(text: string): JsonFault | null {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const take = (char: string): boolean => {
    skip(BLANKS);
    if (text[at] !== char) return false;
    at += 1;
    return true;
  };
  const string = (): boolean => {
    skip(BLANKS);
    if (!skip(OPEN_STRING) || text[at] !== '"') return false;
    at += 1;
    return true;
  };
  const list = (close: string, item: () => boolean): boolean => {
    if (take(close)) return true;
    for (;;) {
      if (!item()) return false;
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  };
  const value = (): boolean => {
    if (take('{')) return list('}', () => string() && take(':') && value());
    if (take('[')) return list(']', value);
    return text[at] === '"' ? string() : skip(NUMBER) || skip(WORD);
  };
  if (!value()) return faultAt(text, at);
  skip(BLANKS);
  return at === text.length ? null : faultAt(text, at);
}

function faultAt(text: string, at: number): JsonFault {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return {
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    problem: at >= text.length ? 'it ends too early' : `unexpected ${quoted(char)}`,
  };
}

const NAMED: Readonly<Record<string, string>> = { '\n': 'line break', '\r': 'line break', '\t': 'tab' };

const quoted = (char: string): string =>
  NAMED[char] ?? (char === '"' ? 'quotation mark' : JSON.stringify(char));
