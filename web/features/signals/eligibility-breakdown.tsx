import type { EligibilityBreakdown } from '#contract/signals.ts';
import { useReadableInstants } from '#web/ui/use-readable-instants.ts';
import { capitalise, formatCount } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { useErrorToast } from '../../ui/use-error-toast.ts';
import classes from './eligibility-breakdown.module.css';
import { useEligibility } from './signals-data.ts';

const FAILURE = 'Failed to check eligibility';

export function EligibilityBreakdownView({ signalId }: { signalId: string }) {
  const breakdown = useEligibility(signalId);
  useErrorToast(breakdown, FAILURE);
  return (
    <QueryView query={breakdown} errorTitle={FAILURE}>
      {(answer) => <Breakdown answer={answer} />}
    </QueryView>
  );
}

function Breakdown({ answer }: { answer: EligibilityBreakdown }) {
  const readable = useReadableInstants();
  const { breakdown, decisions, eligibleUsers } = answer;
  const { layer1, layer2, layer3, layer4 } = breakdown;
  return (
    <div className={classes.breakdown}>
      <Facts
        facts={[
          ['Current Mode', capitalise(answer.currentMode)],
          ['Processor', answer.processor],
          ['All Users', formatCount(decisions.length)],
          ['Final Eligible Users', formatCount(answer.finalEligibleUsers)],
        ]}
      />
      <ol className={classes.funnel} aria-label="Filtration layers">
        {[layer1, layer2, layer3, layer4].map(({ name, count }, index) => {
          const layer = index + 1;
          const leftOut = countReasons(decisions, layer);
          return (
            <li key={name}>
              <div className={classes.layer}>
                <span className={classes.name}>
                  <span className={classes.number}>{layer}</span> {name}
                </span>
                <strong className={classes.count}>{formatCount(count)}</strong>
              </div>
              <div className={classes.track} aria-hidden>
                <div className={classes.bar} style={{ width: `${share(count, decisions.length)}%` }} />
              </div>
              {leftOut.length > 0 ? (
                <ul className={classes.reasons}>
                  {leftOut.map(({ reason, usernames }) => (
                    <li key={reason} data-tip={usernames.join('\n')}>
                      {usernames.length} left out: {readable(reason)}
                    </li>
                  ))}
                </ul>
              ) : null}
            </li>
          );
        })}
      </ol>
      <Section title="Eligible Users">
        {eligibleUsers.length === 0 ? (
          <p className={classes.nobody}>No eligible users</p>
        ) : (
          <ol className={classes.users}>
            {eligibleUsers.map(({ id, username, isTestUser }) => (
              <li key={id}>
                <span>{username}</span>
                {isTestUser ? <Badge tone="accent">Test</Badge> : null}
              </li>
            ))}
          </ol>
        )}
      </Section>
    </div>
  );
}

const share = (count: number, all: number) => (count > 0 && all > 0 ? (count / all) * 100 : 0);

/** Counts the users excluded by a layer by reason, most frequent first. */
export function countReasons(
  decisions: EligibilityBreakdown['decisions'],
  layer: number,
): { reason: string; usernames: string[] }[] {
  const leftOut = decisions.filter((decision) => decision.layer === layer);
  return [...Map.groupBy(leftOut, ({ reason }) => reason)]
    .map(([reason, group]) => ({ reason, usernames: group.map(({ username }) => username) }))
    .sort((a, b) => b.usernames.length - a.usernames.length);
}
