import { expect, test } from 'vitest';
import { csvFileName, csvLine, type ExportSource, exportCsv } from './csv-export.ts';

interface Row {
  id: number;
  receivedAt: string;
}

const receivedAt = (id: number) => new Date(Date.UTC(2026, 0, 1) + id).toISOString();

/** Simulates the server's list, newest first; `arrive` runs between two calls. */
function listOf(count: number, arrive: (rows: Row[], page: number) => void = () => {}) {
  const rows: Row[] = Array.from({ length: count }, (_, index) => ({
    id: count - index,
    receivedAt: receivedAt(count - index),
  }));
  const asked: { page: number; until: string | undefined }[] = [];
  const source: ExportSource<Row> = {
    columns: [
      { header: 'ID', cell: ({ id }) => id },
      { header: 'Received', cell: (row) => row.receivedAt },
    ],
    fetchPage: async ({ page, limit, until }) => {
      asked.push({ page, until });
      const known = rows.filter((row) => until === undefined || row.receivedAt <= until);
      const answer = { rows: known.slice((page - 1) * limit, page * limit), total: known.length };
      arrive(rows, page);
      return answer;
    },
    rowId: ({ id }) => String(id),
    receivedAt: (row) => row.receivedAt,
  };
  return { source, asked };
}

const signal = new AbortController().signal;

async function idsOf(blob: Blob): Promise<number[]> {
  const [, ...lines] = (await blob.text()).trimEnd().split('\r\n');
  return lines.map((line) => Number(line.split(',')[0]));
}

const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

test('exports all pages as one file, with a byte order mark and one header line', async () => {
  const progress: unknown[] = [];
  const { source } = listOf(2345);
  const file = await exportCsv({ source, signal, onProgress: (step) => progress.push(step) });
  expect([...new Uint8Array(await file.blob.slice(0, 3).arrayBuffer())]).toEqual([0xef, 0xbb, 0xbf]);
  expect(await file.blob.slice(3, 18).text()).toBe('ID,Received\r\n23');
  expect(file.blob.type).toBe('text/csv;charset=utf-8');
  expect(await idsOf(file.blob)).toEqual(down(2345, 1));
  expect(file).toMatchObject({ rows: 2345, total: 2345 });
  expect(progress).toEqual([1000, 2000, 2345].map((rows) => ({ rows, total: 2345 })));
});

// Requirements: additions-export-1
test('keeps pages stable when rows arrive during an export', async () => {
  const { source, asked } = listOf(1500, (rows) =>
    rows.unshift({ id: rows.length + 1, receivedAt: receivedAt(rows.length + 1) }),
  );
  const { blob, rows } = await exportCsv({ source, signal, onProgress: () => {} });
  expect(await idsOf(blob)).toEqual(down(1500, 1));
  expect(rows).toBe(1500);
  expect(asked).toEqual([
    { page: 1, until: undefined },
    { page: 2, until: receivedAt(1500) },
  ]);
});

test('exports no row twice when a row committed late moves the others', async () => {
  const { source } = listOf(2000, (rows, page) => {
    if (page === 1) rows.splice(3, 0, { id: 9999, receivedAt: rows[2]?.receivedAt ?? '' });
  });
  const { blob, rows } = await exportCsv({ source, signal, onProgress: () => {} });
  expect(await idsOf(blob)).toEqual(down(2000, 1));
  expect(rows).toBe(2000);
});

// Requirements: additions-export-2
test('truncates a file that would be too large, and returns the total', async () => {
  const { source } = listOf(3000);
  const { blob, rows, total } = await exportCsv({ source, signal, onProgress: () => {}, maxRows: 1500 });
  expect(await idsOf(blob)).toEqual(down(3000, 1501));
  expect({ rows, total }).toEqual({ rows: 1500, total: 3000 });
});

test('does not truncate when the rows just fit', async () => {
  const { source } = listOf(2000);
  const file = await exportCsv({ source, signal, onProgress: () => {}, maxRows: 2000 });
  expect(file).toMatchObject({ rows: 2000, total: 2000 });
});

test('exports an empty list', async () => {
  const { source } = listOf(0);
  expect(await exportCsv({ source, signal, onProgress: () => {} })).toMatchObject({ rows: 0, total: 0 });
});

test('returns no file when it fails or is cancelled half-way', async () => {
  const cancel = new AbortController();
  const stopped = listOf(5000, (_rows, page) => page === 2 && cancel.abort());
  await expect(
    exportCsv({ source: stopped.source, signal: cancel.signal, onProgress: () => {} }),
  ).rejects.toThrow('aborted');
  expect(stopped.asked).toHaveLength(2);

  const broken = listOf(5000, (_rows, page) => {
    if (page === 3) throw new Error('500: no');
  });
  await expect(exportCsv({ source: broken.source, signal, onProgress: () => {} })).rejects.toThrow('500: no');
});

// Requirements: trading-calls-28
test('names the file by the day in the display time zone', () => {
  const date = new Date('2026-01-02T03:04:05Z');
  expect(csvFileName('signals', date, 'America/Los_Angeles')).toBe('signals-2026-01-01.csv');
  expect(csvFileName('price-logs', date, 'UTC')).toBe('price-logs-2026-01-02.csv');
});

test('ends a line with CRLF, and writes null as an empty field', () => {
  expect(csvLine(['BTC', 97098.872, null, ''])).toBe('BTC,97098.872,,\r\n');
});

test('quotes commas, quotes and line breaks', () => {
  expect(csvLine(['a,b', 'say "no"', 'two\nlines', '{"a":1}'])).toBe(
    '"a,b","say ""no""","two\nlines","{""a"":1}"\r\n',
  );
});

// Requirements: additions-export-4
test.each(['a;b', 'a\tb', 'a,b', 'say "no"', "it's", 'one\rtwo', 'one\ntwo'])(
  'quotes %j, so that a spreadsheet with another separator keeps it in one cell',
  (text) => {
    expect(csvLine([text, 1])).toBe(`"${text.replaceAll('"', '""')}",1\r\n`);
  },
);

// Requirements: additions-export-3
test.each([
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(A1)',
  ' =1+1',
  '\t=1+1',
  '\rx',
  '＝1+1',
  '-',
  '+49',
  '-2+3+cmd|" /C calc"!A0',
])('exports %j as text, not as a formula', (text) => {
  expect(csvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"\r\n`);
});

test('keeps a negative number a number', () => {
  expect(csvLine(['-12.3', -0.5, '-1e-8', '0.00000001'])).toBe('-12.3,-0.5,-1e-8,0.00000001\r\n');
});

test('keeps text with a formula sign inside', () => {
  expect(csvLine(['ann@example.com', '1-2', 'a=b'])).toBe('ann@example.com,1-2,a=b\r\n');
});
