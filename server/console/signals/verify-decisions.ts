import { isDeepStrictEqual } from 'node:util';
import type { DifferingField, VerifiedDecisions } from '#contract/signals.ts';
import { judgeExit } from '#domain/exits/select-exits.ts';
import { judgeSelection, judgeSizing } from '#domain/workflow/decision.ts';
import type { Deps } from '#server/deps.ts';
import {
  constantsHash,
  knownSeals,
  recallExit,
  recallSelection,
  recallSizing,
  type StoredRecord,
} from '#server/engine/records/decision-record.ts';
import {
  type DecisionRow,
  listLostDecisions,
  listSignalDecisions,
} from '#server/engine/records/decisions.store.ts';

type Difference = Omit<DifferingField, 'userId'>;

/**
 * Computes every decision of a signal again, from its record and with the functions that made it. A field that no
 * longer fits its seal was changed in the database, even where the result stays the same; a record may also be gone.
 */
export async function verifyDecisions(
  { db, secretBox }: Pick<Deps, 'db' | 'secretBox'>,
  signalId: string,
): Promise<VerifiedDecisions> {
  const [rows, lost] = await Promise.all([
    listSignalDecisions(db, signalId),
    listLostDecisions(db, signalId),
  ]);
  const differing = rows.map((row) => [...changedFields(secretBox, row), ...recomputed(row.record)]);
  return {
    decisions: rows.length,
    identical: differing.filter((fields) => fields.length === 0).length,
    differing: [
      ...rows.flatMap(({ userId }, index) =>
        (differing[index] ?? []).map((difference) => ({ userId, ...difference })),
      ),
      ...lost.map((userId) => ({ userId, field: 'record', recorded: null, computed: null })),
    ],
    rulesDiffer: rows.some(({ record }) => record.constants !== constantsHash()),
  };
}

/** Fields that were changed, removed or added since they were sealed; what they were is not known. */
function changedFields(
  secretBox: Deps['secretBox'],
  { workflowId, userId, record, seals }: DecisionRow,
): Difference[] {
  const expected = knownSeals(secretBox, { workflowId, userId }, record);
  const fields = [...new Set([...Object.keys(record), ...Object.keys(seals)])];
  return fields
    .filter((field) => seals[field] === undefined || !expected[field]?.includes(seals[field]))
    .map((field) => ({ field, recorded: asText(record[field]), computed: null }));
}

function recomputed(record: StoredRecord): Difference[] {
  try {
    return [...compareSelection(record), ...compareSizing(record)];
  } catch (error) {
    // A record whose fields were changed need not be readable.
    const reason = error instanceof Error ? error.message : String(error);
    return [{ field: 'record', recorded: null, computed: `cannot be computed: ${reason}` }];
  }
}

/** The users may have been selected before decisions were recorded, and sized since. */
function compareSelection(record: StoredRecord): Difference[] {
  if (record.eligibility === undefined) return [];
  const left = recallExit(record);
  const computed = left === null ? judgeSelection(recallSelection(record)) : judgeExit(left.user, left.input);
  return compare('eligibility', record.eligibility, computed);
}

function compareSizing(record: StoredRecord): Difference[] {
  const seen = recallSizing(record);
  if (seen === null) return [];
  const { outcome } = record;
  const computed = judgeSizing(seen);
  const wasSized = isObject(outcome) && outcome.ok === true && computed.ok;
  return wasSized
    ? compare('position', outcome.position, computed.position)
    : compare('outcome', outcome, computed);
}

/** The differing fields of two objects. */
function compare(name: string, recorded: unknown, computed: object): Difference[] {
  const stored: unknown = JSON.parse(JSON.stringify(computed));
  if (!isObject(recorded) || !isObject(stored)) {
    return [{ field: name, recorded: asText(recorded), computed: asText(stored) }];
  }
  const fields = [...new Set([...Object.keys(recorded), ...Object.keys(stored)])];
  return fields
    .filter((field) => !isDeepStrictEqual(recorded[field], stored[field]))
    .map((field) => ({
      field: `${name}.${field}`,
      recorded: asText(recorded[field]),
      computed: asText(stored[field]),
    }));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const asText = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);
