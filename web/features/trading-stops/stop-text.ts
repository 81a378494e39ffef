import type { TradingStopView } from '#contract/trading-stops.ts';
import type { StopKind } from '#domain/orders/trading-stop.ts';

type Scope = TradingStopView['scope'];

/** What a scope covers, in words; `nameOf` knows the users' names. */
export function scopeText({ kind, value }: Scope, nameOf: (userId: string) => string): string {
  if (kind === 'all') return 'everybody';
  if (kind === 'strategy') return `strategy ${value}`;
  return kind === 'token' ? (value ?? '') : nameOf(value ?? '');
}

export const isPause = ({ id }: Pick<TradingStopView, 'id'>): boolean => id.startsWith('pause-');

const IDLE: Record<StopKind, string> = {
  all: 'Automatic, reversals and by hand',
  strategy: 'No strategy is stopped',
  token: 'No token is stopped',
  user: 'Nobody is stopped',
};
const MOST_NAMED = 3;

/** The present state of a kind of scope, for the line below its menu item. */
export function stateText(
  stops: readonly TradingStopView[],
  {
    kind,
    nameOf,
    formatInstant,
  }: { kind: StopKind; nameOf: (userId: string) => string; formatInstant: (instant: string) => string },
): string {
  const own = stops.filter(({ scope }) => scope.kind === kind);
  const [first] = own;
  if (first === undefined) return IDLE[kind];
  if (kind === 'all') {
    const since = first.createdAt === null ? '' : ` since ${formatInstant(first.createdAt)}`;
    return `Stopped${since} by ${first.createdBy ?? 'nobody'}`;
  }
  const states = new Map<string, string>();
  for (const stop of own) {
    const name = kind === 'user' ? nameOf(stop.scope.value ?? '') : (stop.scope.value ?? '');
    if (states.get(name) !== 'stopped') states.set(name, isPause(stop) ? 'paused' : 'stopped');
  }
  const named = [...states].slice(0, MOST_NAMED).map(([name, state]) => `${name} is ${state}`);
  const more = states.size - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
