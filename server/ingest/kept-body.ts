import { Buffer } from 'node:buffer';

/** How much of a refused body the log keeps. */
const KEPT_BYTES = 2_048;
/** Read for it: what is masked may end behind what is kept. */
const READ_BYTES = 2 * KEPT_BYTES;

const decoder = new TextDecoder();

/** The first 2 KB of a refused body without secrets, ending in '…' where more followed. */
export function keepBody(body: Uint8Array): string {
  const text = decoder.decode(body.subarray(0, READ_BYTES)).replaceAll('\0', '␀');
  const bytes = Buffer.from(maskSecrets(text));
  if (bytes.length <= KEPT_BYTES && body.length <= READ_BYTES) return bytes.toString();
  // A character that the cut splits is left out.
  return `${new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: true })}…`;
}

/** A name that says secret, as JSON writes it, as text in JSON does, or as a query does. */
const NAMED_SECRET =
  /[\w. -]{0,40}(?:pass|pwd|secret|token|key|hkid|auth|credential|bearer|cookie|signature|\botp\b|\bpin\b)[\w. -]{0,40}\\*["']?\s*[:=]\s*(\\*["'])?/gi;
/** `Bearer …`, and the user and password in an address. */
const MARKED_SECRETS = [/(?<=\b(?:bearer|basic)\s+)[^\s,"']+/gi, /(?<=:\/\/)[^\s/"'@]+(?=@)/g];
/** Webhook keys have 43 such characters; keys of exchanges and messengers have 32 and more. */
const LONG_RUN = /[\w+/=-]{32,}/g;

/**
 * Replaces each character of what may be a secret by `*`, so that lines and columns stay. Takes any text: what needs to
 * be seen is often not JSON. Masks too much rather than too little.
 */
export function maskSecrets(text: string): string {
  let masked = '';
  let at = 0;
  for (const { index, 0: name, 1: quote } of text.matchAll(NAMED_SECRET)) {
    const from = index + name.length;
    // Part of another secret.
    if (index < at) continue;
    const end = endOfValue(text, { from, quote });
    masked += text.slice(at, from) + stars(text.slice(from, end));
    at = end;
  }
  masked += text.slice(at);
  for (const pattern of MARKED_SECRETS) masked = masked.replace(pattern, stars);
  return masked.replace(LONG_RUN, (run) => (isLikeAKey(run) ? stars(run) : run));
}

/** Of letters and digits, or of large and small letters: not a number, and not words. */
const isLikeAKey = (run: string): boolean =>
  [/\d/, /[a-z]/, /[A-Z]/].filter((kind) => kind.test(run)).length > 1;

const stars = (text: string): string => text.replaceAll(/[^\r\n"']/g, '*');

const END_OF_WORD = /[,}\]&\r\n"']/g;

/** Where the value that begins there ends; the text's end where that is not clear. */
function endOfValue(text: string, { from, quote }: { from: number; quote: string | undefined }): number {
  const opening = text[from];
  if (quote === undefined && (opening === '{' || opening === '[')) return endOfBrackets(text, from);
  // A quote inside a value whose quotes were not escaped is followed by something else.
  const ending =
    quote === undefined
      ? END_OF_WORD
      : new RegExp(`(?<!\\\\)${quote.replaceAll('\\', '\\\\')}(?=\\s*(?:[,;&}\\]\\r\\n\\\\]|$))`, 'g');
  ending.lastIndex = from;
  return ending.exec(text)?.index ?? text.length;
}

function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') depth += 1;
    if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}
