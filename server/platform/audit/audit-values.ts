import type { AuditValues } from '#contract/audit.ts';

/** Values as the trail stores them: dates as ISO texts, without undefined fields. */
export const auditValuesOf = (fields: object): AuditValues => JSON.parse(JSON.stringify(fields));

/** The fields that differ, before and after; null when none does. */
export function changedFields(
  before: object,
  after: object,
): { before: AuditValues; after: AuditValues } | null {
  const [old, now] = [auditValuesOf(before), auditValuesOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  if (names.length === 0) return null;
  const pick = (fields: AuditValues): AuditValues =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  return { before: pick(old), after: pick(now) };
}
