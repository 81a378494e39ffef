import { IconHandStop } from '@tabler/icons-react';
import type { TradingHaltView } from '#contract/trading-halts.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { haltEnding } from './halt-text.ts';
import classes from './trading-halts.module.css';

/** Halts listed; further ones are only counted, to keep the banner small. */
const SHOWN = 3;

interface HaltNoticeProps {
  halts: readonly TradingHaltView[];
  isAdmin: boolean;
}

export default function HaltNotice({ halts, isAdmin }: HaltNoticeProps) {
  const formatInstant = useFormatInstant();
  const more = halts.length - SHOWN;
  return (
    <aside className={classes.banner} aria-label="Trading halts">
      <IconHandStop size={20} aria-hidden />
      <div className={classes.halts} role="alert">
        <ul>
          {halts.slice(0, SHOWN).map((halt) => (
            <li key={halt.id}>
              {isAdmin ? (
                <>
                  Trading of <strong>{halt.username}</strong> is halted
                </>
              ) : (
                <strong>Your trading is halted</strong>
              )}{' '}
              since {formatInstant(halt.since)}: {halt.reason}. {haltEnding(halt, { isAdmin })}
            </li>
          ))}
          {more > 0 ? <li>{more === 1 ? 'One more halt' : `${more} more halts`}</li> : null}
        </ul>
      </div>
      {isAdmin ? (
        <ButtonLink to="/positions" size="xs" variant="default">
          Show halts
        </ButtonLink>
      ) : null}
    </aside>
  );
}
