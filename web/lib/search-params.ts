/** Keeps URLs readable: plain text values without JSON quoting ('15' stays a timeframe, not a number). */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

type Raw = Record<string, unknown>;

export function textParam(raw: Raw, name: string): string | undefined {
  const value = raw[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function choiceParam<Choice extends string>(
  raw: Raw,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === raw[name]);
}

/** A page number; the URL omits page 1. */
export function pageParam(raw: Raw): number | undefined {
  const page = Number(raw.page);
  return Number.isInteger(page) && page > 1 && page <= 1_000_000 ? page : undefined;
}
