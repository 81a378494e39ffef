import type { EligibilityBreakdown } from '#contract/signals.ts';

/** Whom a layer left out, by reason; the most frequent reason first. */
export function countReasons(
  decisions: EligibilityBreakdown['decisions'],
  layer: number,
): { reason: string; usernames: string[] }[] {
  const leftOut = decisions.filter((decision) => decision.layer === layer);
  return [...Map.groupBy(leftOut, ({ reason }) => reason)]
    .map(([reason, group]) => ({ reason, usernames: group.map(({ username }) => username) }))
    .sort((a, b) => b.usernames.length - a.usernames.length);
}
