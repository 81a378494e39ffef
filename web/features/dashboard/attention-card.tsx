import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import type { AttentionCondition } from '#contract/attention.ts';
import { PolledView } from '#web/lists/polled-view.tsx';
import { useAttention } from '../../lib/attention.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './attention-card.module.css';

interface SeverityLook {
  label: string;
  tone: BadgeTone;
}

const SEVERITIES: Readonly<Record<string, SeverityLook>> = {
  info: { label: 'Info', tone: 'info' },
  warning: { label: 'Warning', tone: 'warning' },
  critical: { label: 'Critical', tone: 'failure' },
} satisfies Record<AttentionCondition['severity'], SeverityLook>;
const NOT_KNOWN: SeverityLook = { label: '–', tone: 'neutral' };

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

function Condition({
  condition: { severity, since, text, link, action },
}: {
  condition: AttentionCondition;
}) {
  const formatInstant = useFormatInstant();
  const { label, tone } = SEVERITIES[severity] ?? NOT_KNOWN;
  return (
    <li>
      <span className={classes.head}>
        <Badge tone={tone}>{label}</Badge>
        {since === null ? null : <span className={classes.since}>since {formatInstant(since)}</span>}
      </span>
      <span className={classes.text}>{text}</span>
      {link === null ? null : <ActionLink href={link} label={action ?? 'Open'} />}
    </li>
  );
}

/** Not a router link: the path may include a search, which a router link would treat as part of the path. */
function ActionLink({ href, label }: { href: string; label: string }) {
  const router = useRouter();
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void router.navigate({ href });
  };
  return (
    <Button component="a" href={href} onClick={follow} variant="default" size="xs" className={classes.action}>
      {label}
    </Button>
  );
}
