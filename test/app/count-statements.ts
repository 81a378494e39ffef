import pg from 'pg';

/** The statements that are sent meanwhile, BEGIN and COMMIT included. `about`: only those whose text contains it. */
export async function countStatements(work: () => Promise<unknown>, about = ''): Promise<number> {
  const original = pg.Client.prototype.query;
  let count = 0;
  pg.Client.prototype.query = function counted(this: pg.Client, ...parameters: unknown[]) {
    if (textOf(parameters[0]).includes(about)) count += 1;
    return Reflect.apply(original, this, parameters);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return count;
}

/** Resolves when the next statement about something is sent. */
export function nextStatement(about: string): Promise<void> {
  const original = pg.Client.prototype.query;
  return new Promise((resolve) => {
    pg.Client.prototype.query = function seen(this: pg.Client, ...parameters: unknown[]) {
      if (textOf(parameters[0]).includes(about)) {
        pg.Client.prototype.query = original;
        resolve();
      }
      return Reflect.apply(original, this, parameters);
    } as typeof original;
  });
}

const textOf = (query: unknown): string =>
  typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : String(query);
