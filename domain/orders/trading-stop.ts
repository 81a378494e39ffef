import { sameProcessor } from '../eligibility/processor.ts';
import { type Denial, deny } from '../workflow/denials.ts';

/** What a stop of new entries covers: everybody, the signals of a strategy (a processor), a token, or a user. */
export const STOP_KINDS = ['all', 'strategy', 'token', 'user'] as const;
export type StopKind = (typeof STOP_KINDS)[number];

/** `value`: the processor, the token or the user's id; null for everybody. */
export interface StopScope {
  kind: StopKind;
  value: string | null;
}

/** A stop as decisions see it, and as it is kept with them. */
export interface TradingStop extends StopScope {
  id: string;
  /** What it covers, for sentences: 'strategy Tesla'. */
  covers: string;
  /** When it was made, as it is shown: '14:02'. */
  since: string;
  /** Who made it. */
  by: string;
  /** Null when none was given. */
  reason: string | null;
}

/** An entry that a stop may cover. */
export interface StoppableEntry {
  userId: string;
  token: string;
  /** The strategy whose signal it is for. */
  processor: string;
}

/** Whether the entry is within the scope. Processors are equal without regard to case. */
export function isCovered({ kind, value }: StopScope, { userId, token, processor }: StoppableEntry): boolean {
  if (kind === 'all') return true;
  if (value === null) return false;
  if (kind === 'strategy') return sameProcessor(value, processor);
  return value === (kind === 'token' ? token : userId);
}

/** The widest stop that covers the entry, the first of the list among equals; null when none does. */
export function findStop<Stop extends StopScope>(stops: readonly Stop[], entry: StoppableEntry): Stop | null {
  const covering = stops.filter((stop) => isCovered(stop, entry));
  const [widest] = covering.toSorted((a, b) => STOP_KINDS.indexOf(a.kind) - STOP_KINDS.indexOf(b.kind));
  return widest ?? null;
}

/** The scope in words: 'everybody', 'strategy Tesla', 'BTC', or the user's name. */
export function describeScope({ kind, value }: StopScope, username: string | null): string {
  if (kind === 'all') return 'everybody';
  if (kind === 'strategy') return `strategy ${value}`;
  return (kind === 'user' ? username : null) ?? value ?? 'nobody';
}

/** Why an entry that a stop covers is not opened. */
export function denyStopped({ covers, since, by, reason }: TradingStop): Denial {
  return deny('trading_stopped', { covers, since, by, note: reason === null ? '' : ` (${reason})` });
}

/**
 * An instant as sentences show it: the time in the zone, with the date on another day than `now`, 'HH:mm' or
 * 'yyyy/MM/dd HH:mm'.
 */
export function showSince(instant: Date, { now, timeZone }: { now: Date; timeZone: string }): string {
  const at = partsOf(instant, timeZone);
  const today = partsOf(now, timeZone);
  return at.date === today.date ? at.time : `${at.date} ${at.time}`;
}

function partsOf(instant: Date, timeZone: string): { date: string; time: string } {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(instant);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return {
    date: `${part('year')}/${part('month')}/${part('day')}`,
    time: `${part('hour')}:${part('minute')}`,
  };
}
