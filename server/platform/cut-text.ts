/** The beginning of a text, without half of a character that takes two: PostgreSQL reads no JSON with one in it. */
export function cutText(text: string, maximum: number): string {
  const cut = text.slice(0, maximum);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
