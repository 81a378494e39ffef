import type { ReactNode } from 'react';
import { TokenBadge } from '../ui/trading-badges.tsx';
import { useReadableInstants } from '../ui/use-readable-instants.ts';
import classes from './two-lines.module.css';

interface TwoLinesProps {
  id: string;
  token: string;
  /** 'buy' and 'sell' have an arrow. */
  side?: string;
  title: string;
  /** Shown after the title, less loud. */
  detail?: string;
  /** What the card opens, for its accessible name. */
  opens: string;
  onOpen: () => void;
  outcome: ReactNode;
  below: ReactNode;
  reason: string | null;
}

const ARROWS: Readonly<Record<string, string>> = { buy: '▲', sell: '▼' };

/** A row as a card of two lines: what it is and what came of it, and below that when, and why. */
export function TwoLines(props: TwoLinesProps) {
  const { id, token, side = '', title, detail, opens, onOpen, outcome, below, reason } = props;
  const readable = useReadableInstants();
  return (
    <div className={classes.grid}>
      <span className={classes.icon} aria-hidden>
        <TokenBadge token={token} />
      </span>
      <button
        type="button"
        className={classes.title}
        data-row-open={id}
        aria-label={[title, detail, opens].filter(Boolean).join(', ')}
        onClick={onOpen}
      >
        {ARROWS[side] ? (
          <i className={classes.arrow} aria-hidden>
            {ARROWS[side]}
          </i>
        ) : null}
        {title} {detail ? <span>{detail}</span> : null}
      </button>
      {outcome}
      <div className={classes.line}>
        <span>{below}</span>
        {reason ? (
          <span className={classes.reason} data-tip={readable(reason)}>
            {readable(reason)}
          </span>
        ) : null}
      </div>
    </div>
  );
}
