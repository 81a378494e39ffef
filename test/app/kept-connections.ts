import type pg from 'pg';

/** Ends what a session leaves behind, but for the statements that it prepared. */
const CLEAN = 'reset all; unlisten *; select pg_advisory_unlock_all(); discard temp';

type Callback = (error: Error | null) => void;
/** As pools use it, with callbacks. */
interface KeptClient {
  connect(callback: Callback): void;
  end(callback: Callback): void;
  query(text: string): Promise<unknown>;
  getTransactionStatus(): string | null;
  removeAllListeners(): void;
  on(event: 'error' | 'end', listen: () => void): void;
  ref(): void;
  unref(): void;
  processID: number;
}
type KeptClass = new (config: pg.PoolConfig) => KeptClient;

/**
 * Connections to one database that outlive their pools and serve the next ones: in a new connection the database reads
 * its catalogue and plans every statement anew, which was most of its work.
 */
export class KeptConnections {
  /** By class and name of the application: the next user expects the same settings. */
  readonly #free = new Map<string, KeptClient[]>();
  readonly #ended: (() => Promise<boolean>)[] = [];
  /** Counts the tests that used them: what an earlier one left running gets none of a later one's. */
  #turn = 0;
  #isEnding = false;

  /** Gives the class with which the pools of the next test make their connections. */
  lend(): (Client: typeof pg.Client) => typeof pg.Client {
    this.#turn += 1;
    const turn = this.#turn;
    return (Client) => this.#classFor(Client, () => turn === this.#turn);
  }

  #classFor(Client: typeof pg.Client, isLent: () => boolean): typeof pg.Client {
    const endedWith = (kind: string, client: KeptClient, end: () => Promise<unknown>) =>
      this.#ended.push(() => this.#keep(kind, client, end));
    const isEnding = () => this.#isEnding;
    const kindOf = (config: pg.PoolConfig) => `${Client.name} of ${config.application_name}`;

    class Kept extends (Client as unknown as KeptClass) {
      readonly #kind: string;
      #isConnected = false;

      constructor(config: pg.PoolConfig) {
        super(config);
        this.#kind = kindOf(config);
      }

      override connect(callback: Callback): void {
        if (this.#isConnected) process.nextTick(callback, null);
        else super.connect(callback);
        this.#isConnected = true;
      }

      /** Before the end of its pool, a connection ends because something is wrong with it. */
      override end(callback: Callback): void {
        if (isEnding() && this.getTransactionStatus() === 'I') {
          endedWith(this.#kind, this, () => new Promise((resolve) => super.end(resolve)));
          process.nextTick(callback, null);
        } else super.end(callback);
      }
    }
    return new Proxy(Kept, {
      construct: (Class, [config]: [pg.PoolConfig]) =>
        (isLent() ? this.#takeFree(kindOf(config)) : undefined) ?? new Class(config),
    }) as unknown as typeof pg.Client;
  }

  /** Keeps the connections that pools end meanwhile; true if none of them is in a bad state. */
  async keepWhile(endPools: () => Promise<void>): Promise<boolean> {
    this.#isEnding = true;
    try {
      await endPools();
    } finally {
      this.#isEnding = false;
      this.#turn += 1;
    }
    const kept = await Promise.all(this.#ended.splice(0).map((keep) => keep()));
    return kept.every(Boolean);
  }

  get processIds(): number[] {
    return [...this.#free.values()].flat().map(({ processID }) => processID);
  }

  async #keep(kind: string, client: KeptClient, end: () => Promise<unknown>): Promise<boolean> {
    // Those of its pool. Without a listener, an error would end the test run.
    client.removeAllListeners();
    client.on('error', () => {});
    client.on('end', () => this.#forget(kind, client));
    try {
      await client.query(CLEAN);
    } catch {
      await end();
      return false;
    }
    client.unref();
    this.#free.set(kind, [...(this.#free.get(kind) ?? []), client]);
    return true;
  }

  #forget(kind: string, ended: KeptClient): void {
    const free = this.#free.get(kind) ?? [];
    this.#free.set(
      kind,
      free.filter((client) => client !== ended),
    );
  }

  #takeFree(kind: string): KeptClient | undefined {
    const client = this.#free.get(kind)?.pop();
    client?.ref();
    return client;
  }
}
