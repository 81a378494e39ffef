import { IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { ExplainedDecision } from '#contract/signals.ts';
import { Badge } from './badge.tsx';
import classes from './decision-trace.module.css';
import { Facts } from './facts.tsx';
import { useReadableInstants } from './use-readable-instants.ts';
import { statusLabel } from './user-picker.tsx';

const ICONS: Readonly<Record<string, typeof IconCheck>> = {
  passed: IconCheck,
  failed: IconX,
  'not reached': IconMinus,
};

interface DecisionTraceProps {
  title: string;
  /** When it was decided, or what else there is to say beside the title. */
  when: string;
  decision: ExplainedDecision;
}

/** One decision on one user: the deciding rule, what it saw and wanted, and every rule in the order of asking. */
export function DecisionTrace({ title, when, decision }: DecisionTraceProps) {
  const { status, reason, rule, saw, wanted, checks } = decision;
  const readable = useReadableInstants();
  const isEligible = status === 'eligible';
  return (
    <section className={classes.trace} aria-label={title}>
      <div className={classes.head}>
        <h3>{title}</h3>
        <Badge tone={isEligible ? 'success' : 'neutral'}>{statusLabel(status)}</Badge>
      </div>
      {when ? <p className={classes.when}>{when}</p> : null}
      <p className={classes.reason}>{readable(reason)}</p>
      {isEligible ? null : (
        <Facts
          columns={2}
          facts={[
            ['Deciding rule', rule],
            ['It saw', readable(saw)],
            ['It wanted', readable(wanted)],
          ]}
        />
      )}
      <ol className={classes.checks}>
        {checks.map((check) => {
          const Icon = ICONS[check.result] ?? IconMinus;
          return (
            <li key={check.rule} data-result={check.result}>
              <Icon size={15} stroke={2.2} aria-hidden />
              <span className={classes.rule}>{check.rule}</span>
              <span className={classes.result}>{check.result}</span>
              {check.saw !== null && check.wanted !== null ? (
                <span className={classes.values}>{readable(`saw ${check.saw}, wanted ${check.wanted}`)}</span>
              ) : null}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
