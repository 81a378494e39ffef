import { setTimeout as sleep } from 'node:timers/promises';
import { sendAlert } from '../alert-sender.ts';
import { awaitEnd } from '../ends.ts';
import { alertBody, hookUrl } from '../load.ts';
import { checkTrades, readSignals } from '../oracle.ts';
import { defineScenario, pick } from '../scenario.ts';

const SENDS = 4;
const SIDE_BY_SIDE = 40;
const TRADE_EVERY = 20;

/** Sends some alerts four times over fifteen seconds and others fifty times concurrently, across instances. */
export const duplicates = defineScenario({
  about: 'the same alert again and again, spread over instances',
  // `apartMs`: time between the deliveries of one alert.
  sizes: { repeated: 1_000, bursts: 100, burstOf: 50, instances: 3, apartMs: 5_000 },
  stage: ({ instances, repeated, bursts }) => ({
    database: 'external',
    instances,
    traders: 1,
    tokens: Math.ceil((repeated + bursts) / TRADE_EVERY),
  }),
  async run(stage, { repeated, bursts, burstOf, instances, apartMs }, say) {
    const total = repeated + bursts;
    const url = () => hookUrl(pick(stage.instances, stage.random.uniform).url, stage.hookKey);
    const violations: string[] = [];
    const traded: { token: string; nonce: string }[] = [];
    let [deliveries, cancelled, unanswered, done] = [0, 0, 0, 0];

    async function sendTimes(number: number, times: number, gapMs: number): Promise<void> {
      const nonce = `alert-${number}`;
      const trades = number % TRADE_EVERY === 0;
      const token = trades ? (stage.tokens[number / TRADE_EVERY] ?? '') : `IDLE${number % 40}`;
      if (trades) traded.push({ token, nonce });
      const body = alertBody({ nonce, token, trades, isTimed: number % 2 === 0 });
      const sendings: ReturnType<typeof sendAlert>[] = [];
      for (let time = 0; time < times; time += 1) {
        if (time > 0 && gapMs > 0) await sleep(gapMs);
        sendings.push(sendAlert({ url, nonce, body }));
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
    const wanted = traded.map(({ token, nonce }) => ({ token, signalId: idOf.get(nonce) ?? null }));
    const checked = await checkTrades({ ...stage, trader, wanted });
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
  },
});
