import { setTimeout as sleep } from 'node:timers/promises';
import { TIMEOUT_MS } from '../alert-sender.ts';
import { createLoad } from '../load.ts';
import { choose, concludeLoad, type Scenario } from '../scenario.ts';
import { openStage, type Stage } from '../stage.ts';

interface RestartSizes extends Record<string, number | string> {
  minutes: number;
  everySeconds: number;
  perSecond: number;
  instances: number;
  /** Every delivery has its answer by then, 200 or 503. TradingView waits for 3 s. */
  answerWithinMs: number;
  /** Names of the outages, separated by blanks; 'all' for all of them. */
  outages: string;
}

const TRADE_EVERY = 40;
/** TradingView gives up 15 s after its first try; an outage as long as that loses alerts whatever we do. */
const LONGEST_OUTAGE_MS = 8_000;

type Outage = { name: string; run: (stage: Stage, ms: number) => Promise<void> };

const OUTAGES: Outage[] = [
  {
    name: 'restart',
    async run(stage, ms) {
      await stage.stopDatabase();
      await sleep(ms);
      await stage.startDatabase();
    },
  },
  {
    name: 'kill',
    async run(stage, ms) {
      await stage.killDatabase();
      await sleep(ms);
      await stage.startDatabase();
    },
  },
  {
    name: 'refuse',
    async run({ proxies }, ms) {
      for (const proxy of proxies) await proxy.refuse();
      await sleep(ms);
      for (const proxy of proxies) await proxy.accept();
    },
  },
  {
    name: 'reset',
    async run({ proxies }) {
      for (const proxy of proxies) proxy.reset();
    },
  },
  {
    name: 'black-hole',
    async run({ proxies }, ms) {
      for (const proxy of proxies) proxy.setMode({ kind: 'black-hole' });
      await sleep(ms);
      for (const proxy of proxies) proxy.setMode({ kind: 'pass' });
    },
  },
  {
    name: 'forget',
    async run({ proxies }) {
      for (const proxy of proxies) proxy.forget();
    },
  },
  {
    name: 'slow',
    async run({ proxies }, ms) {
      for (const proxy of proxies) proxy.setMode({ kind: 'delay', ms: 400 });
      await sleep(ms);
      for (const proxy of proxies) proxy.setMode({ kind: 'pass' });
    },
  },
  {
    name: 'commit-cut',
    async run({ proxies }, ms) {
      const cancels = proxies.flatMap((proxy) =>
        Array.from({ length: 5 }, () =>
          proxy.setTrap({
            at: 'after',
            matches: ({ text }) => /^Q[\s\S]{4}commit/i.test(text),
            strike: () => {},
          }),
        ),
      );
      await sleep(ms);
      for (const cancel of cancels) cancel();
    },
  },
];

/** The database goes away in every way there is, again and again, under alerts that come twenty a second. */
export const databaseRestarts: Scenario<RestartSizes> = {
  about: 'PostgreSQL away, restarted, cut off or slow every 20 s under load',
  sizes: {
    minutes: 10,
    everySeconds: 20,
    perSecond: 20,
    instances: 1,
    answerWithinMs: 2_500,
    outages: 'all',
  },
  async run(context, { minutes, everySeconds, perSecond, instances, answerWithinMs, outages: names }) {
    const kinds = choose(OUTAGES, names);
    const { seed, say, exchangeDatabase } = context;
    const count = Math.round(minutes * 60 * perSecond);
    const stage = await openStage({
      seed,
      database: 'external',
      instances,
      traders: 1,
      tokens: Math.ceil(count / TRADE_EVERY) + 1,
      ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
    });
    try {
      const load = createLoad(stage, {
        tradeEvery: TRADE_EVERY,
        timeoutMs: Math.max(TIMEOUT_MS, answerWithinMs),
      });
      const startedAt = performance.now();
      const sending = load.run({ count, perSecond });
      const outages = Math.max(1, Math.floor((minutes * 60) / everySeconds));
      const offset = Math.floor(stage.random.uniform() * kinds.length);
      for (let index = 0; index < outages; index += 1) {
        const dueMs = startedAt + 1_000 * everySeconds * (index + 0.3) - performance.now();
        await sleep(Math.max(0, dueMs));
        const outage = kinds[(index + offset) % kinds.length];
        const ms = Math.min(1_000 + (LONGEST_OUTAGE_MS - 1_000) * stage.random.uniform(), everySeconds * 500);
        if (outage === undefined) continue;
        say(`outage ${index + 1} of ${outages}: ${outage.name}, ${(ms / 1_000).toFixed(1)} s`);
        await outage.run(stage, ms);
      }
      await sending;
      const { figures, violations, end } = await concludeLoad(stage, load, context);
      const lost = load.alerts.filter(({ acknowledgedId }) => acknowledgedId === null);
      for (const { nonce, answers } of lost)
        violations.push(`lost: ${nonce} was answered ${answers.join(', ')}`);
      const answers = load.alerts.flatMap((alert) => alert.answers);
      const others = new Set(answers.filter((answer) => answer !== '200' && answer !== '503'));
      if (others.size > 0) violations.push(`neither 200 nor 503 but ${[...others].join(', ')}`);
      const slow = load.alerts.filter(({ slowestMs }) => slowestMs > answerWithinMs).length;
      if (slow > 0) violations.push(`${slow} alerts waited for more than ${answerWithinMs} ms for an answer`);
      return {
        figures: {
          outages,
          ...figures,
          'answered 503': answers.filter((answer) => answer === '503').length,
          'all ended after (s)': end.toFixed(1),
        },
        violations,
      };
    } finally {
      await stage.close();
    }
  },
};
