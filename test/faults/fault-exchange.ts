import { randomUUID } from 'node:crypto';
import { systemClock } from '#server/platform/clock.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';
import { bitgetOperations } from '#test/venues/bitget/operations.ts';
import { bybitOperations } from '#test/venues/bybit/operations.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { VenueAnswer, VenueRequest } from '#test/venues/http.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import type { VenueOperation } from '#test/venues/operations.ts';
import { jsonObject } from '#test/venues/parameters.ts';
import { listenVenue, type VenueServer } from '#test/venues/server.ts';
import { createVenue, type TestVenue } from '#test/venues/venue.ts';
import { userIdOfVenueKey, venueCredentials } from '#test/venues/venue-credentials.ts';
import { paperLedger } from '../venues/paper-ledger.ts';

const SECRET = 'what the keys of the accounts are made of';
const CUT: VenueAnswer = { status: 200, headers: {}, body: '', delivery: 'cut' };

export interface SeenCall {
  /** The operations of the call, independent of the exchange's dialect. */
  operations: readonly VenueOperation[];
  /** Null for a public call. */
  accountId: string | null;
  /** Null when the call names no token or several. */
  token: string | null;
  /** The index of the program instance that made the call. */
  instance: number;
}

/**
 * Strikes once, at the first matching call. `before`: the exchange never receives the call. `after`: the call is
 * processed and its answer lost. Both cut the connection after `strike`. `hold`: the call is processed and answered
 * after `strike`.
 */
export interface CallTrap {
  matches(call: SeenCall): boolean;
  at: 'before' | 'after' | 'hold';
  strike(call: SeenCall): void;
}

export type FaultExchange = ReturnType<typeof createFaultExchange>;

/**
 * The exchange, which survives every crash of the program: the test venue with its own accounts, keys, books and
 * prices, and one URL for each instance of the program.
 */
export function createFaultExchange(database: OpenDatabase) {
  const { db } = database;
  const marks = memoryMarks();
  const failures: unknown[] = [];
  const servers: VenueServer[] = [];
  const traps = new Set<CallTrap>();
  const watchers = new Set<(call: SeenCall) => void>();
  const ownExchanges = new Map<string, TestVenue>();
  const openExchange = () =>
    createVenue({
      db,
      clock: systemClock,
      marks,
      startBalance: '1000000',
      credentialsFor: (accountId) => venueCredentials(accountId, SECRET),
      onError: (error) => failures.push(error),
    });
  const shared = openExchange();
  const exchangeOf = (accountId: string | null) => ownExchanges.get(accountId ?? '') ?? shared;

  async function handle(instance: number, request: VenueRequest): Promise<VenueAnswer> {
    const { path, headers } = request;
    const operations = path.startsWith('/v5/') ? bybitOperations(request) : bitgetOperations(request);
    const accountId = userIdOfVenueKey(headers['access-key'] ?? headers['x-bapi-api-key'] ?? '');
    const call = { operations, accountId, token: tokenOf(request), instance };
    for (const hear of watchers) hear(call);
    const trap = [...traps].find((one) => one.matches(call));
    if (trap) traps.delete(trap);
    if (trap?.at === 'before') {
      trap.strike(call);
      return CUT;
    }
    const answer = await exchangeOf(accountId).handle(request);
    trap?.strike(call);
    return trap?.at === 'after' ? CUT : answer;
  }

  return {
    /** Opens another URL, for one instance. */
    async listen(): Promise<string> {
      const instance = servers.length;
      const server = await listenVenue({ handle: (request) => handle(instance, request) }, { port: 0 });
      servers.push(server);
      return server.url;
    },
    /** With `own` the account has separate faults; other accounts share theirs. */
    openAccount({ own = false } = {}) {
      const accountId = randomUUID();
      if (own) ownExchanges.set(accountId, openExchange());
      return { accountId, credentials: venueCredentials(accountId, SECRET) };
    },
    /** Sets the faults of an account opened with `own`. */
    setFaults(accountId: string, faults: readonly VenueFault[]) {
      const own = ownExchanges.get(accountId);
      if (own === undefined) throw new Error('the account was opened without own faults');
      own.setFaults(faults);
    },
    async push(token: string, price: string) {
      marks.push(token, price);
      await shared.settle(token);
    },
    /** Returns a function that removes the trap. */
    setTrap(trap: CallTrap): () => void {
      traps.add(trap);
      return () => void traps.delete(trap);
    },
    /** Calls `hear` with every call; returns a function that stops it. */
    watch(hear: (call: SeenCall) => void): () => void {
      watchers.add(hear);
      return () => void watchers.delete(hear);
    },
    ...paperLedger(db),
    async close() {
      for (const server of servers) await server.close();
      if (failures.length > 0) throw failures[0];
    },
  };
}

function tokenOf({ query, body }: VenueRequest): string | null {
  const symbol = new URLSearchParams(query).get('symbol') ?? jsonObject(body)?.symbol;
  return typeof symbol === 'string' ? symbol.replace(/USDT$/, '') : null;
}
