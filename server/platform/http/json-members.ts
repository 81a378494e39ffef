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

/** The index of the quote that ends the string, or of the text's end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
