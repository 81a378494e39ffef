import type { Mark, MarkSource } from '#server/exchanges/paper/mark-source.ts';

interface StoredMark extends Mark {
  userId: string | null;
}

export interface MemoryMarks extends MarkSource {
  /** Sets a price for everyone, or only for `userId`. */
  push(token: string, price: string, options?: { userId?: string; at?: Date }): void;
}

/** Older marks have long been applied to every account. */
const KEPT = 5_000;

/** A MarkSource without a database: for tests and for npm run paper-exchange. */
export function memoryMarks(): MemoryMarks {
  const byToken = new Map<string, StoredMark[]>();
  // Accounts remember their cursor: marks of a new process must sort after those of earlier ones.
  const epoch = String(Date.now()).padStart(15, '0');
  let count = 0;
  const visible = (token: string, userId: string | null) =>
    (byToken.get(token) ?? []).filter((mark) => mark.userId === null || mark.userId === userId);
  return {
    push(token, price, options = {}) {
      count += 1;
      const cursor = `${epoch}-${String(count).padStart(12, '0')}`;
      const mark = { price, at: options.at ?? new Date(), cursor, userId: options.userId ?? null };
      const marks = byToken.get(token) ?? [];
      marks.push(mark);
      byToken.set(token, marks.length > 2 * KEPT ? marks.slice(-KEPT) : marks);
    },
    async newest(tokens, { userId }) {
      const found = new Map<string, Mark>();
      for (const token of tokens) {
        const last = visible(token, userId).at(-1);
        if (last !== undefined) found.set(token, last);
      }
      return found;
    },
    async since(token, cursor, { userId }) {
      return visible(token, userId).filter((mark) => cursor === null || mark.cursor > cursor);
    },
    async moved(cursors, { userId }) {
      const hasMoved = ([token, cursor]: [string, string | null]) => {
        const last = visible(token, userId).at(-1);
        return last !== undefined && (cursor === null || last.cursor > cursor);
      };
      return new Set([...cursors].filter(hasMoved).map(([token]) => token));
    },
    async tokens() {
      return [...byToken.keys()];
    },
  };
}
