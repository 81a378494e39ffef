import { formatInstant } from './format.ts';

type CsvCell = string | number | null;

/** Rows per call (the server's largest page) and rows per file. */
export const EXPORT_PAGE_SIZE = 1000;
export const MAX_EXPORT_ROWS = 100_000;

export interface CsvColumn<Row> {
  header: string;
  cell: (row: Row) => CsvCell;
}

export interface ExportPage<Row> {
  rows: readonly Row[];
  /** Number of rows that match the filters, on all pages. */
  total: number;
}

export interface ExportSource<Row> {
  columns: readonly CsvColumn<Row>[];
  /** Returns rows newest first. `until` limits them to rows received at or before that instant. */
  fetchPage: (query: {
    page: number;
    limit: number;
    until: string | undefined;
    signal: AbortSignal;
  }) => Promise<ExportPage<Row>>;
  rowId: (row: Row) => string;
  receivedAt: (row: Row) => string;
}

export interface CsvFile {
  blob: Blob;
  rows: number;
  /** Number of rows that match the filters; more than `rows` if the file was truncated. */
  total: number;
}

interface ExportOptions<Row> {
  source: ExportSource<Row>;
  signal: AbortSignal;
  onProgress: (progress: { rows: number; total: number }) => void;
  maxRows?: number;
}

/**
 * Fetches every page and returns the finished file. The server's receive time of the newest row on the first page ends
 * the snapshot. A row received before that time but committed later still shifts the following rows down by one, so
 * repeated rows are skipped, and an incomplete page counts as the last.
 */
export async function exportCsv<Row>(options: ExportOptions<Row>): Promise<CsvFile> {
  const { source, signal, onProgress, maxRows = MAX_EXPORT_ROWS } = options;
  // Turn each page into a blob immediately, because browsers keep blobs outside the script's memory.
  const parts: Blob[] = [new Blob([CSV_START + csvLine(source.columns.map(({ header }) => header))])];
  let [rows, total] = [0, 0];
  let until: string | undefined;
  let formerIds = new Set<string>();
  for (let page = 1; rows < maxRows; page += 1) {
    const answer = await source.fetchPage({ page, limit: EXPORT_PAGE_SIZE, until, signal });
    signal.throwIfAborted();
    if (page === 1) {
      total = answer.total;
      const [newest] = answer.rows;
      until = newest && source.receivedAt(newest);
    }
    const fresh = answer.rows.filter((row) => !formerIds.has(source.rowId(row))).slice(0, maxRows - rows);
    parts.push(new Blob([fresh.map((row) => csvLine(source.columns.map(({ cell }) => cell(row)))).join('')]));
    rows += fresh.length;
    total = Math.max(total, rows);
    onProgress({ rows, total });
    if (answer.rows.length < EXPORT_PAGE_SIZE) {
      total = rows;
      break;
    }
    formerIds = new Set(answer.rows.map(source.rowId));
  }
  return { blob: new Blob(parts, { type: 'text/csv;charset=utf-8' }), rows, total };
}

/** signals-2026-11-21.csv, with the day in the display time zone. */
export function csvFileName(name: string, date: Date, timeZone: string): string {
  const day = formatInstant(date.toISOString(), timeZone).slice(0, 'yyyy/MM/dd'.length);
  return `${name}-${day.replaceAll('/', '-')}.csv`;
}

const LINE_END = '\r\n';

/** Marks the file as UTF-8 for spreadsheets. */
const CSV_START = '\ufeff';

/** Text that spreadsheets treat as a formula, even after spaces and with full-width signs. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** One line per RFC 4180. Prefixes text that a spreadsheet would treat as a formula with an apostrophe. */
export const csvLine = (cells: readonly CsvCell[]): string => cells.map(csvField).join(',') + LINE_END;

function csvField(cell: CsvCell): string {
  const text = cell === null ? '' : String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
