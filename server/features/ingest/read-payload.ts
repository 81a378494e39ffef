import { parse } from 'secure-json-parse';
import type { FieldError } from '#contract/errors.ts';
import { MAX_PAYLOAD_DEPTH } from '#contract/ingest.ts';

export type Payload = Record<string, unknown>;

export type Refusal = { ok: false; message: string; errors: FieldError[] };

export const refusal = (path: string, message: string): Refusal => ({
  ok: false,
  message: path === '' ? message : `${path}: ${message}`,
  errors: [{ path, message }],
});

/**
 * The body of a delivery as a JSON object that can be stored: TradingView announces text/plain for many of them,
 * so the header says nothing. Refuses what the database or a later reader would choke on.
 */
export function readPayload(body: Uint8Array): { ok: true; payload: Payload } | Refusal {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return refusal('', 'The body is not UTF-8 text');
  }
  if (nestsTooDeep(text)) return refusal('', `The body is nested deeper than ${MAX_PAYLOAD_DEPTH}`);
  let value: unknown;
  try {
    value = parse(text, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    const forbidden = error instanceof SyntaxError && /forbidden prototype/i.test(error.message);
    return refusal('', forbidden ? 'The body names a forbidden key' : 'The body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refusal('', 'The body is not a JSON object');
  }
  const fault = findFault(value, '');
  return fault ?? { ok: true, payload: value as Payload };
}

/** Counts brackets outside strings, before anything is parsed: deep nesting costs a parser far more than its bytes. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MAX_PAYLOAD_DEPTH) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}

const PLACEHOLDER = /\{\{[^{}]*\}\}/;

function findFault(value: unknown, path: string): Refusal | null {
  if (typeof value === 'string') {
    if (value.includes('\u0000') || !value.isWellFormed()) {
      return refusal(path, 'contains characters that cannot be stored');
    }
    const placeholder = PLACEHOLDER.exec(value);
    // TradingView sends a placeholder that it does not know literally.
    if (placeholder !== null) return refusal(path, `is still the placeholder ${placeholder[0]}`);
    return null;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return refusal(path, 'is not a finite number');
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\u0000') || !key.isWellFormed()) {
      return refusal(path, 'has a key with characters that cannot be stored');
    }
    const fault = findFault(inner, path === '' ? key : `${path}.${key}`);
    if (fault !== null) return fault;
  }
  return null;
}
