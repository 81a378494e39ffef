import {
  IconActivity,
  IconBriefcase,
  IconCircleCheck,
  IconHandStop,
  IconPlayerPlay,
} from '@tabler/icons-react';
import type { Activity } from '#contract/overview.ts';
import { formatRelative } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useReadableInstants } from '../../ui/use-readable-instants.ts';
import classes from './overview.module.css';

const ICONS: Readonly<Record<string, typeof IconActivity>> = {
  closed: IconCircleCheck,
  opened: IconBriefcase,
  signal: IconActivity,
  halted: IconHandStop,
  resumed: IconPlayerPlay,
} satisfies Record<Activity['kind'], typeof IconActivity>;

interface ActivityPanelProps {
  title: string;
  description?: string | undefined;
  activity: readonly Activity[];
  /** The time of the answer, which ages are counted from. */
  at: string;
  emptyText: string;
}

/** What happened lately, in sentences; only money is coloured. */
export function ActivityPanel({ title, description, activity, at, emptyText }: ActivityPanelProps) {
  const formatInstant = useFormatInstant();
  const readable = useReadableInstants();
  return (
    <Panel title={title} description={description}>
      {activity.length === 0 ? <EmptyState>{emptyText}</EmptyState> : null}
      <ul className={classes.activity} aria-label={title}>
        {activity.map(({ id, at: when, kind, who, text, amount }) => {
          const Icon = ICONS[kind] ?? IconActivity;
          return (
            <li key={id}>
              <Icon size={15} aria-hidden />
              <span className={classes.sentence}>
                <strong>{who}</strong> {readable(text)}
                {amount === null ? null : (
                  <>
                    {' '}
                    <Profit amount={amount} />
                  </>
                )}
              </span>
              <time className={classes.age} dateTime={when} data-tip={formatInstant(when)}>
                {formatRelative(when, Date.parse(at))}
              </time>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
