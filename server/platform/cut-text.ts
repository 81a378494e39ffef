/** Cuts a text without splitting a surrogate pair: PostgreSQL reads no JSON with half of one. */
export function cutText(text: string, maximum: number): string {
  const cut = text.slice(0, maximum);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
