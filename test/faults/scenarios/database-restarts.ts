import { setTimeout as sleep } from 'node:timers/promises';
import { TIMEOUT_MS } from '../alert-sender.ts';
import type { DatabaseProxy } from '../database-proxy.ts';
import { createLoad } from '../load.ts';
import { choose, concludeLoad, defineScenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const TRADE_EVERY = 40;
/** TradingView gives up 15 s after its first try, so a longer outage would lose alerts unavoidably. */
const LONGEST_OUTAGE_MS = 8_000;

interface Outage {
  name: string;
  begin(stage: Stage): Promise<unknown>;
  end?(stage: Stage): Promise<unknown>;
}

const each = (work: (proxy: DatabaseProxy) => unknown) => (stage: Stage) =>
  Promise.all(stage.proxies.map(async (proxy) => work(proxy)));

const COMMIT_CUT = {
  at: 'after' as const,
  matches: ({ text }: { text: string }) => /^Q[\s\S]{4}commit/i.test(text),
  strike: () => {},
};

const OUTAGES: Outage[] = [
  { name: 'restart', begin: (stage) => stage.stopDatabase(), end: (stage) => stage.startDatabase() },
  { name: 'kill', begin: (stage) => stage.killDatabase(), end: (stage) => stage.startDatabase() },
  { name: 'refuse', begin: each((proxy) => proxy.refuse()), end: each((proxy) => proxy.accept()) },
  { name: 'reset', begin: each((proxy) => proxy.reset()) },
  {
    name: 'black-hole',
    begin: each((proxy) => proxy.setMode({ kind: 'black-hole' })),
    end: each((proxy) => {
      proxy.setMode({ kind: 'pass' });
      proxy.reset();
    }),
  },
  { name: 'forget', begin: each((proxy) => proxy.forget()) },
  {
    name: 'slow',
    begin: each((proxy) => proxy.setMode({ kind: 'delay', ms: 400 })),
    end: each((proxy) => proxy.setMode({ kind: 'pass' })),
  },
  {
    name: 'commit-cut',
    begin: each((proxy) => {
      for (let count = 0; count < 5; count += 1) proxy.setTrap({ ...COMMIT_CUT });
    }),
    end: each((proxy) => proxy.clearTraps()),
  },
];

/** Makes the database unavailable repeatedly and in every way, under a load of alerts. */
export const databaseRestarts = defineScenario({
  about: 'PostgreSQL away, restarted, cut off or slow every 20 s under load',
  sizes: {
    minutes: 10,
    everySeconds: 20,
    perSecond: 20,
    instances: 1,
    /** Every delivery must be answered by then, with 200 or 503. TradingView waits for 3 s. */
    answerWithinMs: 2_500,
    /** Names of outages separated by spaces, or 'all'. */
    outages: 'all',
  },
  stage: ({ instances, minutes, perSecond }) => ({
    database: 'external',
    instances,
    traders: 1,
    tokens: Math.ceil(Math.round(minutes * 60 * perSecond) / TRADE_EVERY) + 1,
  }),
  async run(stage, sizes, say) {
    const { minutes, everySeconds, perSecond, answerWithinMs } = sizes;
    const kinds = choose(OUTAGES, sizes.outages);
    const timeoutMs = Math.max(TIMEOUT_MS, answerWithinMs);
    const load = createLoad(stage, { tradeEvery: TRADE_EVERY, timeoutMs });
    const startedAt = performance.now();
    const sending = load.run({ count: Math.round(minutes * 60 * perSecond), perSecond });
    const outages = Math.max(1, Math.floor((minutes * 60) / everySeconds));
    const offset = Math.floor(stage.random.uniform() * kinds.length);
    for (let index = 0; index < outages; index += 1) {
      const dueMs = startedAt + 1_000 * everySeconds * (index + 0.3) - performance.now();
      await sleep(Math.max(0, dueMs));
      const outage = kinds[(index + offset) % kinds.length];
      const ms = Math.min(1_000 + (LONGEST_OUTAGE_MS - 1_000) * stage.random.uniform(), everySeconds * 500);
      if (outage === undefined) continue;
      say(`outage ${index + 1} of ${outages}: ${outage.name}, ${(ms / 1_000).toFixed(1)} s`);
      await outage.begin(stage);
      if (outage.end === undefined) continue;
      await sleep(ms);
      await outage.end(stage);
    }
    await sending;
    const { figures, violations } = await concludeLoad(stage, load, say);
    for (const { nonce, acknowledgedId, answers } of load.alerts) {
      if (acknowledgedId === null) violations.push(`lost: ${nonce} was answered ${answers.join(', ')}`);
    }
    const answers = load.alerts.flatMap((alert) => alert.answers);
    const others = new Set(answers.filter((answer) => answer !== '200' && answer !== '503'));
    if (others.size > 0) violations.push(`neither 200 nor 503 but ${[...others].join(', ')}`);
    const slow = load.alerts.filter(({ slowestMs }) => slowestMs > answerWithinMs).length;
    if (slow > 0) violations.push(`${slow} alerts waited for more than ${answerWithinMs} ms for an answer`);
    const unavailable = answers.filter((answer) => answer === '503').length;
    return { figures: { outages, 'answered 503': unavailable, ...figures }, violations };
  },
});
