export type CsvCell = string | number | null;

const LINE_END = '\r\n';

/** Without it spreadsheets read the file in the letters of their own country. */
export const CSV_START = '\ufeff';

/** A spreadsheet calculates what begins so, spaces and the wide forms of these signs included. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** One line by RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export const csvLine = (cells: readonly CsvCell[]): string => cells.map(csvField).join(',') + LINE_END;

function csvField(cell: CsvCell): string {
  const text = cell === null ? '' : String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
