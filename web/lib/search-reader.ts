import { choiceParam, pageParam, textParam } from './search-params.ts';

type Raw = Record<string, unknown>;
type Reader<Value> = (raw: Raw, name: string) => Value | undefined;

export const text: Reader<string> = textParam;
export const page: Reader<number> = pageParam;
/** An id, lower-cased because it is compared and the URL may have been typed. */
export const id: Reader<string> = (raw, name) => textParam(raw, name)?.toLowerCase();
export const choice =
  <const Choice extends string>(choices: readonly Choice[]): Reader<Choice> =>
  (raw, name) =>
    choiceParam(raw, name, choices);

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
