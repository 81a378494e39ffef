import { setTimeout as sleep } from 'node:timers/promises';
import { type SentAlert, sendAlert } from './alert-sender.ts';
import { PRICE, type Stage } from './stage.ts';

/** An alert and the outcome of its deliveries. */
export interface Alert extends SentAlert {
  token: string;
  /** Whether traders follow its processor. */
  trades: boolean;
}

export interface Load {
  alerts: Alert[];
  /** Sends `count` alerts at a steady rate. Resolves when all are sent, before all are answered. */
  run(options: { count: number; perSecond: number; until?: () => boolean }): Promise<void>;
  /** Resolves when every delivery, including repeats, has its answer. */
  settled(): Promise<void>;
}

const IDLE_TOKENS = 40;

/**
 * Sends unique alerts to the administrator's webhook. One in `tradeEvery` names the processor that the traders follow
 * and an unused token; the others pass through the pipeline without an eligible user.
 */
export function createLoad(
  stage: Pick<Stage, 'instances' | 'first' | 'hookKey' | 'tokens' | 'random'>,
  { tradeEvery, timeoutMs }: { tradeEvery: number; timeoutMs?: number },
): Load {
  const { instances, first, hookKey, tokens, random } = stage;
  const unused = [...tokens];
  const alerts: Alert[] = [];
  const underWay = new Set<Promise<unknown>>();
  let turn = 0;

  /** The next running instance, as a load balancer with health checks would choose; the first when none runs. */
  function nextUrl(): string {
    const running = instances.filter((instance) => instance.isRunning());
    turn += 1;
    const { url } = running[turn % running.length] ?? first;
    return hookUrl(url, hookKey);
  }

  async function send(trades: boolean): Promise<void> {
    const nonce = `alert-${alerts.length + 1}`;
    const token = trades ? unused.shift() : `IDLE${1 + Math.floor(random.uniform() * IDLE_TOKENS)}`;
    if (token === undefined) throw new Error('all tokens are used');
    const body = alertBody({ nonce, token, trades, isTimed: random.uniform() < 0.5 });
    const alert: Alert = { nonce, acknowledgedId: null, answers: [], slowestMs: 0, token, trades };
    alerts.push(alert);
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    Object.assign(alert, await sendAlert({ url: nextUrl, nonce, body, ...limit }));
  }

  return {
    alerts,
    async run({ count, perSecond, until = () => false }) {
      const startedAt = performance.now();
      for (let index = 0; index < count && !until(); index += 1) {
        const dueMs = startedAt + (1_000 * index) / perSecond - performance.now();
        if (dueMs > 0) await sleep(dueMs);
        const sending = send(index % tradeEvery === 0 && unused.length > 0);
        underWay.add(sending);
        void sending.finally(() => underWay.delete(sending)).catch(() => {});
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

export const hookUrl = (url: string, hookKey: string): string =>
  `${url}/hooks/trading_view_signal?hkid=${hookKey}`;

export function alertBody(options: {
  nonce: string;
  token: string;
  trades: boolean;
  isTimed: boolean;
}): string {
  const { nonce, token, trades, isTimed } = options;
  return JSON.stringify({
    symbol: `${token}USDT`,
    action: 'buy',
    price: PRICE,
    timeframe: '15',
    processor: trades ? 'Tesla' : 'Idle',
    nonce,
    ...(isTimed ? { time: new Date().toISOString() } : {}),
  });
}
