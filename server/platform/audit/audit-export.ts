import { createReadStream } from 'node:fs';
import {
  type AuditExportHeader,
  auditExportEnd,
  auditExportEntry,
  auditExportHeader,
} from '#contract/audit.ts';
import { StartError } from '../db/start-error.ts';
import { splitLines } from '../text-lines.ts';
import type { AuditRow } from './audit-mac.ts';

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** The lines of an export. */
export async function* exportLines(
  rows: AsyncIterable<AuditRow>,
  header: Pick<AuditExportHeader, 'exportedAt' | 'filter'>,
): AsyncGenerator<string> {
  yield line({ export: 'signal-board-audit', version: 1, ...header } satisfies AuditExportHeader);
  let entries = 0;
  for await (const row of rows) {
    entries += 1;
    const { rowMac, chainHash } = row;
    yield line({
      ...row,
      at: row.at.toISOString(),
      rowMac: rowMac.toString('hex'),
      chainHash: chainHash?.toString('hex') ?? null,
    });
  }
  yield line({ entries });
}

export interface OpenAuditExport {
  header: AuditExportHeader;
  /** Throws a StartError when the file is incomplete or a line is no entry. */
  rows(): AsyncGenerator<AuditRow>;
}

/** The file is read once for the header and once for each call of `rows`: it may be larger than the memory. */
export async function openAuditExport(path: string): Promise<OpenAuditExport> {
  const lines = linesOf(path);
  const first = await lines.next();
  await lines.return(undefined);
  const header = auditExportHeader.safeParse(parseJson(first.value ?? ''));
  if (!header.success) throw new StartError(`${path} is not an export of the audit trail`);

  async function* rows() {
    let number = 0;
    for await (const text of linesOf(path)) {
      number += 1;
      if (number === 1) continue;
      const value = parseJson(text);
      const end = auditExportEnd.safeParse(value);
      if (end.success) {
        const entries = number - 2;
        if (end.data.entries === entries) return;
        throw new StartError(`${path} should have ${end.data.entries} entries and has ${entries}`);
      }
      const entry = auditExportEntry.safeParse(value);
      if (!entry.success) throw new StartError(`Line ${number} of ${path} is not an entry`);
      yield toRow(entry.data);
    }
    throw new StartError(`${path} is not whole: its end is missing`);
  }
  return { header: header.data, rows };
}

const toRow = ({ at, rowMac, chainHash, ...rest }: typeof auditExportEntry._output): AuditRow => ({
  ...rest,
  at: new Date(at),
  rowMac: Buffer.from(rowMac, 'hex'),
  chainHash: chainHash === null ? null : Buffer.from(chainHash, 'hex'),
});

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  try {
    yield* splitLines(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new StartError(`${path} cannot be read: ${error.message}`);
  } finally {
    file.destroy();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
