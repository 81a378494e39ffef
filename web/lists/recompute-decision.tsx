import { Button } from '@mantine/core';
import type { DifferingField, VerifiedDecisions } from '#contract/signals.ts';
import { requestJson } from '../lib/api-client.ts';
import { Badge } from '../ui/badge.tsx';
import { useChange } from '../ui/use-change.ts';
import classes from './recompute-decision.module.css';

/** Has a user's decision computed again from its record, and shows whether the result is the same. */
export function RecomputeDecision({ signalId, userId }: { signalId: string; userId: string }) {
  const verify = useChange<VerifiedDecisions>({
    send: () =>
      requestJson(`/api/signals/${encodeURIComponent(signalId)}/verify`, { method: 'POST', body: {} }),
    failed: { title: 'Failed to recompute the decision' },
  });
  return (
    <section className={classes.recompute} aria-label="Recomputed" aria-live="polite">
      <Button size="compact-sm" variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
        Recompute this decision
      </Button>
      {verify.data ? <Result verified={verify.data} userId={userId} /> : null}
    </section>
  );
}

function Result({ verified, userId }: { verified: VerifiedDecisions; userId: string }) {
  const { decisions, differing, rulesDiffer } = verified;
  const own = differing.filter((one) => one.userId === userId);
  if (decisions === 0) return <p>No decision of this signal was recorded.</p>;
  return (
    <>
      {own.length === 0 ? (
        <Badge tone="success">Recomputed: identical</Badge>
      ) : (
        <Badge tone="failure">Recomputed: different</Badge>
      )}
      {rulesDiffer ? <p>The trading constants have changed since this signal was decided.</p> : null}
      {own.length > 0 ? (
        <ul>
          {own.map((difference) => (
            <li key={difference.field}>
              <span className="mono">{difference.field}</span>: {sayDifference(difference)}
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

const sayDifference = ({ recorded, computed }: DifferingField): string =>
  computed === null
    ? `changed in the database, now ${recorded ?? 'missing'}`
    : `recorded ${recorded ?? 'nothing'}, computed ${computed}`;
