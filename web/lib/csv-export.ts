import { formatInstant } from './format.ts';

type CsvCell = string | number | null;

/** Rows of one call (the server's largest page) and of one file. */
export const EXPORT_PAGE_SIZE = 1000;
export const MAX_EXPORT_ROWS = 100_000;

export interface CsvColumn<Row> {
  header: string;
  cell: (row: Row) => CsvCell;
}

export interface ExportPage<Row> {
  rows: readonly Row[];
  /** How many rows the filters match, on all pages. */
  total: number;
}

export interface ExportSource<Row> {
  columns: readonly CsvColumn<Row>[];
  /** Newest first. With `until` only rows received at or before that instant. */
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
  /** Rows that the filters match; more than `rows` when the file was cut. */
  total: number;
}

interface ExportOptions<Row> {
  source: ExportSource<Row>;
  signal: AbortSignal;
  onProgress: (progress: { rows: number; total: number }) => void;
  maxRows?: number;
}

/**
 * Fetches every page and answers the finished file. The newest row of the first page ends the snapshot, by the
 * server's clock. A row that was received before it and committed after it still moves the later ones down by a
 * place, so what came twice is left out, and a page that is not full is the last.
 */
export async function exportCsv<Row>(options: ExportOptions<Row>): Promise<CsvFile> {
  const { source, signal, onProgress, maxRows = MAX_EXPORT_ROWS } = options;
  // Each page becomes a blob at once, which browsers keep outside of the script's memory.
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

/** signals-2026-11-21.csv: the day as it is in the display time zone. */
export function csvFileName(name: string, date: Date, timeZone: string): string {
  const day = formatInstant(date.toISOString(), timeZone).slice(0, 'yyyy/MM/dd'.length);
  return `${name}-${day.replaceAll('/', '-')}.csv`;
}

const LINE_END = '\r\n';

/** Marks the file as UTF-8 for spreadsheets. */
const CSV_START = '\ufeff';

/** Spreadsheets take such text for a formula, also after spaces and with full-width signs. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** One line by RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export const csvLine = (cells: readonly CsvCell[]): string => cells.map(csvField).join(',') + LINE_END;

function csvField(cell: CsvCell): string {
  const text = cell === null ? '' : String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
