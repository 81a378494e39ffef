import type { FieldError } from '#contract/errors.ts';
import { replaceInexactNumbers } from '#server/platform/http/json-members.ts';
import { parseStrictJson } from '#server/platform/http/strict-json.ts';

export type Payload = Record<string, unknown>;

export type Refusal = { ok: false; message: string; errors: FieldError[] };

export const refusal = (path: string, message: string): Refusal => ({
  ok: false,
  message: path === '' ? message : `${path}: ${message}`,
  errors: [{ path, message }],
});

export interface ReadPayload {
  ok: true;
  /** Numbers that a double does not hold exactly are their own text: the database and the browser keep all digits. */
  payload: Payload;
  /** What the identity is reckoned from. Differs from the payload where a number must not equal its text. */
  identity: Payload;
}

/** The body of a delivery as a JSON object that can be stored, whatever its content type. */
export function readPayload(body: Uint8Array): ReadPayload | Refusal {
  const parsed = parseStrictJson(body);
  if (!parsed.ok) return refusal('', parsed.reason);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refusal('', 'The body is not a JSON object');
  }
  const fault = findFault(value);
  if (fault !== null) return refusal(fault.path.join('.'), fault.message);
  return { ok: true, ...keepDigits(body, value as Payload) };
}

const utf8 = new TextDecoder();

/** Payloads without such numbers, nearly all, stay as parsed, and their hashes are those of earlier versions. */
function keepDigits(body: Uint8Array, payload: Payload): Pick<ReadPayload, 'payload' | 'identity'> {
  const text = utf8.decode(body);
  const exact = replaceInexactNumbers(text, (number) => `"${number}"`);
  if (exact === text) return { payload, identity: payload };
  // No text of a payload has a NUL, so that a marked number equals no text.
  const marked = replaceInexactNumbers(text, (number) => `"\\u0000${number}"`);
  return { payload: JSON.parse(exact), identity: JSON.parse(marked) };
}

const PLACEHOLDER = /\{\{[^{}]*\}\}/;

function findFault(value: unknown): { path: string[]; message: string } | null {
  if (typeof value === 'string') {
    const placeholder = PLACEHOLDER.exec(value);
    // TradingView sends unknown placeholders literally.
    return placeholder === null ? null : { path: [], message: `is still the placeholder ${placeholder[0]}` };
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    return { path: [], message: 'is not a finite number' };
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const fault = findFault(inner);
    if (fault !== null) return { path: [key, ...fault.path], message: fault.message };
  }
  return null;
}
