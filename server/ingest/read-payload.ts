import type { FieldError } from '#contract/errors.ts';
import type { JsonFault } from '#server/platform/http/json-fault.ts';
import { replaceInexactNumbers } from '#server/platform/http/json-members.ts';
import { parseStrictJson } from '#server/platform/http/strict-json.ts';

export type Payload = Record<string, unknown>;

export interface Refusal {
  ok: false;
  message: string;
  errors: FieldError[];
  /** Where the body stops being JSON. */
  fault?: JsonFault;
}

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
  if (!parsed.ok) return unparsed(parsed);
  const { value, text } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refusal('', 'The body is not a JSON object');
  }
  const infinite = findInfinite(value);
  if (infinite !== null) return refusal(infinite.join('.'), 'is not a finite number');
  return { ok: true, ...keepDigits(text, value as Payload) };
}

function unparsed({ reason, fault }: { reason: string; fault?: JsonFault }): Refusal {
  if (fault === undefined) return refusal('', reason);
  const { line, column, problem } = fault;
  return { ...refusal('', `${reason}: ${problem} at line ${line}, column ${column}`), fault };
}

/** Payloads without such numbers, nearly all, stay as parsed, and their hashes are those of earlier versions. */
function keepDigits(text: string, payload: Payload): Pick<ReadPayload, 'payload' | 'identity'> {
  const exact = replaceInexactNumbers(text, (number) => `"${number}"`);
  if (exact === text) return { payload, identity: payload };
  // No text of a payload has a NUL, so that a marked number equals no text.
  const marked = replaceInexactNumbers(text, (number) => `"\\u0000${number}"`);
  return { payload: JSON.parse(exact), identity: JSON.parse(marked) };
}

/** The path of a number beyond the range of a double. */
function findInfinite(value: unknown): string[] | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const path = findInfinite(inner);
    if (path !== null) return [key, ...path];
  }
  return null;
}
