import { Button } from '@mantine/core';
import type { AttentionCondition } from '#contract/attention.ts';
import { PolledView } from '#web/lists/polled-view.tsx';
import { useAttention } from '../../lib/attention.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useAnchor } from '../../ui/use-anchor.ts';
import classes from './attention-card.module.css';

const SEVERITIES: Readonly<Record<string, [label: string, tone: BadgeTone]>> = {
  info: ['Info', 'info'],
  warning: ['Warning', 'warning'],
  critical: ['Critical', 'failure'],
} satisfies Record<AttentionCondition['severity'], [label: string, tone: BadgeTone]>;

/** Conditions that need an administrator. Hidden when there are none; a failure to read them is shown. */
export function AttentionCard() {
  const attention = useAttention();
  const isQuiet = (attention.data?.conditions.length ?? 0) === 0;
  if (isQuiet && !attention.isError) return null;
  return (
    <Panel title="Needs attention">
      <PolledView query={attention} errorTitle="Failed to fetch what needs attention">
        {({ conditions }) =>
          conditions.length === 0 ? null : (
            <ul className={classes.conditions} aria-label="Conditions">
              {conditions.map((condition) => (
                <Condition key={`${condition.code} ${condition.text}`} condition={condition} />
              ))}
            </ul>
          )
        }
      </PolledView>
    </Panel>
  );
}

function Condition({ condition }: { condition: AttentionCondition }) {
  const { severity, since, text, link, action } = condition;
  const formatInstant = useFormatInstant();
  const anchor = useAnchor(link ?? '');
  const [label, tone] = SEVERITIES[severity] ?? ['–', 'neutral'];
  return (
    <li>
      <span className={classes.head}>
        <Badge tone={tone}>{label}</Badge>
        {since === null ? null : <span className={classes.since}>since {formatInstant(since)}</span>}
      </span>
      <span className={classes.text}>{text}</span>
      {link === null ? null : (
        <Button component="a" {...anchor} variant="default" size="xs" className={classes.action}>
          {action ?? 'Open'}
        </Button>
      )}
    </li>
  );
}
