import { setTimeout as sleep } from 'node:timers/promises';
import { sendAlert } from '../alert-sender.ts';
import { awaitEnd } from '../ends.ts';
import { alertBody, hookUrl } from '../load.ts';
import { checkTrades, readSignals } from '../oracle.ts';
import type { Scenario } from '../scenario.ts';
import { openStage } from '../stage.ts';

interface DuplicateSizes extends Record<string, number | string> {
  repeated: number;
  bursts: number;
  burstOf: number;
  instances: number;
  /** Between the deliveries of one alert. */
  apartMs: number;
}

const SENDS = 4;
const SIDE_BY_SIDE = 40;
const TRADE_EVERY = 20;

/** Each alert sent four times over fifteen seconds, others fifty times at once, to one and to three instances. */
export const duplicates: Scenario<DuplicateSizes> = {
  about: 'the same alert again and again, spread over instances',
  sizes: { repeated: 1_000, bursts: 100, burstOf: 50, instances: 3, apartMs: 5_000 },
  async run({ seed, say, exchangeDatabase }, { repeated, bursts, burstOf, instances, apartMs }) {
    const total = repeated + bursts;
    const stage = await openStage({
      seed,
      database: 'external',
      instances,
      traders: 1,
      tokens: Math.ceil(total / TRADE_EVERY),
      ...(exchangeDatabase === undefined ? {} : { exchangeDatabase }),
    });
    try {
      const { random, hookKey } = stage;
      const pick = () =>
        hookUrl(stage.instances[Math.floor(random.uniform() * instances)]?.url ?? '', hookKey);
      const violations: string[] = [];
      const traded: { token: string; nonce: string }[] = [];
      let deliveries = 0;
      let cancelled = 0;
      let unanswered = 0;
      let done = 0;

      async function sendTimes(number: number, times: number, gapMs: number): Promise<void> {
        const nonce = `alert-${number}`;
        const trades = number % TRADE_EVERY === 0;
        const token = trades ? (stage.tokens[number / TRADE_EVERY] ?? '') : `IDLE${number % 40}`;
        if (trades) traded.push({ token, nonce });
        const body = alertBody({ nonce, token, trades, isTimed: number % 2 === 0 });
        const sendings: ReturnType<typeof sendAlert>[] = [];
        for (let time = 0; time < times; time += 1) {
          if (time > 0 && gapMs > 0) await sleep(gapMs);
          sendings.push(sendAlert({ url: pick, nonce, body }));
        }
        const sent = await Promise.all(sendings);
        deliveries += sent.reduce((sum, { answers }) => sum + answers.length, 0);
        cancelled += sent.filter(({ acknowledgedId }) => acknowledgedId === null).length;
        const ids = new Set(sent.flatMap(({ acknowledgedId }) => acknowledgedId ?? []));
        if (ids.size > 1) violations.push(`I2: ${nonce} was answered with ${ids.size} ids`);
        if (ids.size === 0) unanswered += 1;
        done += 1;
        if (done % 200 === 0) say(`${done} of ${total} alerts`);
      }

      const queue = Array.from({ length: total }, (_, number) => number);
      await Promise.all(
        Array.from({ length: SIDE_BY_SIDE }, async () => {
          for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
            if (number < repeated) await sendTimes(number, SENDS, apartMs);
            else await sendTimes(number, burstOf, 0);
          }
        }),
      );
      const end = await awaitEnd(stage.admin);
      const signals = await readSignals(stage.admin);
      const workflows = signals.reduce((sum, one) => sum + one.automaticCount + one.manualCount, 0);
      if (signals.length !== total) violations.push(`I2: ${signals.length} signals of ${total} alerts`);
      if (workflows !== total) violations.push(`I2: ${workflows} workflows of ${total} alerts`);
      if (end.left > 0) violations.push(`I1: ${end.left} workflows do not go on`);
      const idOf = new Map(signals.map(({ id, parameters }) => [String(parameters.nonce), id]));
      const [trader] = stage.traders;
      if (trader === undefined) throw new Error('no trader');
      const checked = await checkTrades({
        ...stage,
        trader,
        wanted: traded.map(({ token, nonce }) => ({ token, signalId: idOf.get(nonce) ?? null })),
      });
      violations.push(...checked.violations);
      if (checked.entries !== traded.length) {
        violations.push(`I2: ${checked.entries} entry orders of ${traded.length} traded alerts`);
      }
      const figures = {
        instances,
        alerts: total,
        deliveries,
        'never acknowledged alerts': unanswered,
        'deliveries without a 200': cancelled,
        signals: signals.length,
        workflows,
        'entry orders': checked.entries,
      };
      return { figures, violations };
    } finally {
      await stage.close();
    }
  },
};
