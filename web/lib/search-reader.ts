import { OUTCOME_KINDS } from '#domain/workflow/outcome-kinds.ts';
import { choiceParam, pageParam, textParam } from './search-params.ts';

type Raw = Record<string, unknown>;
type Reader<Value> = (raw: Raw, name: string) => Value | undefined;

export const text: Reader<string> = textParam;
export const page: Reader<number> = pageParam;
/** An id, lower-cased because it is compared and the URL may have been typed. */
export const id: Reader<string> = (raw, name) => textParam(raw, name)?.toLowerCase();
/** Undefined for what is no instant, or for one whose year has not four digits. */
export const instant: Reader<string> = (raw, name) => {
  const date = new Date(textParam(raw, name) ?? '');
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return /^\d{4}-/.test(iso) ? iso : undefined;
};
export const choice =
  <const Choice extends string>(choices: readonly Choice[]): Reader<Choice> =>
  (raw, name) =>
    choiceParam(raw, name, choices);

/** The parameters of a list whose rows have an outcome; the usual order is the newest first. */
export const sorting = {
  sort: choice(['time', 'token', 'outcome']),
  order: choice(['asc', 'desc']),
  outcome: choice(OUTCOME_KINDS),
};

type Search<Readers> = {
  [Name in keyof Readers]?: Readers[Name] extends Reader<infer Value> ? Value | undefined : never;
};

/** Reads a page's search parameters; unreadable ones are undefined. */
export function searchReader<Readers extends Record<string, Reader<unknown>>>(readers: Readers) {
  return (raw: Raw): Search<Readers> =>
    Object.fromEntries(
      Object.entries(readers).map(([name, read]) => [name, read(raw, name)]),
    ) as Search<Readers>;
}
