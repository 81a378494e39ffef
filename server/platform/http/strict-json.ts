import { parse } from 'secure-json-parse';
import { MAX_PAYLOAD_DEPTH, MAX_PAYLOAD_VALUES } from '#contract/ingest.ts';
import { cutText } from '#server/platform/cut-text.ts';
import { findJsonFault, type JsonFault } from './json-fault.ts';
import { findRepeatedName } from './json-members.ts';

type StrictJson =
  /** `text`: what was parsed. */
  | { ok: true; value: unknown; text: string }
  /** `fault`: where a text that is not JSON goes wrong. */
  | { ok: false; reason: string; fault?: JsonFault };

const LONGEST_NAME = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * Parses JSON that can be stored and written again: UTF-8, at most 20 levels deep and 1,000 values, no `__proto__`
 * keys, no NUL and no lone surrogates (PostgreSQL takes neither, and JSON.stringify fails on deep values), and no name
 * twice in one object.
 */
export function parseStrictJson(bytes: Uint8Array): StrictJson {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, reason: 'The body is not valid UTF-8' };
  }
  const { depth, values, members } = measure(text);
  if (depth > MAX_PAYLOAD_DEPTH) {
    return { ok: false, reason: `The body is nested deeper than ${MAX_PAYLOAD_DEPTH} levels` };
  }
  if (values > MAX_PAYLOAD_VALUES) {
    return { ok: false, reason: `The body has more than ${MAX_PAYLOAD_VALUES} values` };
  }
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const forbidden = error instanceof SyntaxError && error.message.includes('forbidden prototype');
    if (forbidden) return { ok: false, reason: 'The body contains a forbidden key' };
    const fault = findJsonFault(text);
    return { ok: false, reason: 'The body is not valid JSON', ...(fault !== null && { fault }) };
  }
  // Only escapes can bring such characters in: raw control characters are not JSON, raw surrogates not UTF-8.
  if (text.includes('\\u') && !isStorable(value)) {
    return { ok: false, reason: 'The body contains characters that cannot be stored' };
  }
  // Of members with one name the parser keeps one.
  const repeated = countMembers(value) < members ? findRepeatedName(text) : null;
  if (repeated !== null) return { ok: false, reason: `${cutText(repeated, LONGEST_NAME)} is given twice` };
  return { ok: true, value, text };
}

// Counts on the text, before anything is built from it: 64 KiB of small values would take 20 ms. A value begins at each
// opening bracket and after each comma, so an empty list counts as one as well.
function measure(text: string): { depth: number; values: number; members: number } {
  let depth = 0;
  let deepest = 0;
  let separators = 0;
  let containers = 0;
  let members = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inText) {
      if (char === 0x5c) at++;
      else if (char === 0x22) inText = false;
    } else if (char === 0x22) inText = true;
    else if (char === 0x2c) separators++;
    else if (char === 0x3a) members++;
    else if (char === 0x7b || char === 0x5b) {
      containers++;
      deepest = Math.max(deepest, ++depth);
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return { depth: deepest, values: separators + Math.max(1, containers), members };
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) count += countMembers(inner);
  return count;
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item));
}
