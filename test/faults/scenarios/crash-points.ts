import { setTimeout as sleep } from 'node:timers/promises';
import { type SentAlert, sendAlert } from '../alert-sender.ts';
import { awaitEnd, judgeEnd } from '../ends.ts';
import { alertBody, hookUrl } from '../load.ts';
import { checkTrades, judgeAlerts, judgeUnstruck, type Part, readSignals } from '../oracle.ts';
import { choose, defineScenario } from '../scenario.ts';
import type { Stage, Trader } from '../stage.ts';
import {
  callTrap,
  commitCut,
  FAULTS,
  type Fault,
  observer,
  POINTS,
  type Point,
  type Target,
} from './crash-tables.ts';

const NOT_REACHED_MS = 6_000;
/** The most trades unfinished at the same time; a run in doubt occupies its lane for more than a minute. */
const LANES = 24;

interface Run {
  name: string;
  token: string;
  lane: Lane;
  fault: Fault;
  sent: SentAlert;
  sending: Promise<SentAlert>;
  reached: boolean;
  switchedOffAt?: Date;
}

interface Lane {
  trader: Trader & { hookKey: string };
  /** Whether a run has switched the user off; the next run switches the user on again. */
  isOff: boolean;
  latest: { sent: Promise<SentAlert>; token: string } | null;
}

/** The program dies at each point of a trade under each fault. Unfinished earlier runs crash with it. */
export const crashPoints = defineScenario({
  about: 'kill -9 at each of 13 points of a trade, under each of 10 faults',
  // `points` and `faults`: names separated by spaces, or 'all'.
  sizes: { seeds: 5, points: 'all', faults: 'all' },
  stage: (sizes) => ({ database: 'external', tokens: planOf(sizes).length }),
  async run(stage, sizes, say) {
    const plan = planOf(sizes);
    const lanes = await createLanes(stage, Math.min(LANES, Math.max(4, plan.length)));
    shuffle(plan, stage.random.uniform);
    const runs: Run[] = [];
    for (const [number, { point, fault, name }] of plan.entries()) {
      const lane = await freeLane(stage, lanes);
      runs.push(await strike(stage, { name, lane, point, fault, token: stage.tokens[number] ?? '' }));
      if ((number + 1) % 25 === 0) say(`${number + 1} of ${plan.length} runs`);
    }
    await Promise.all(runs.map(({ sending }) => sending));
    const end = await awaitEnd(stage.admin);
    const signals = await readSignals(stage.admin);
    const sent = runs.map(({ sent: one, token }) => ({ ...one, token, trades: true }));
    const violations = [...judgeAlerts(sent, signals), ...judgeEnd(end)];
    const idOf = new Map(signals.map(({ id, parameters }) => [String(parameters.nonce), id]));
    const unstruck: Part[] = [];
    let filled = 0;
    for (const { name, token, lane, fault, switchedOffAt } of runs) {
      const signalId = idOf.get(name) ?? null;
      const wanted = [{ token, signalId, ...(switchedOffAt === undefined ? {} : { switchedOffAt }) }];
      const checked = await checkTrades({ ...stage, trader: lane.trader, wanted });
      violations.push(...checked.violations.map((text) => `${name}: ${text}`));
      filled += checked.filled;
      if (fault.name === 'none') unstruck.push(...checked.parts);
      if (checked.filled === 0)
        say(`not filled, ${name}: ${checked.parts[0]?.why ?? 'the alert was never stored'}`);
    }
    violations.push(...judgeUnstruck(unstruck).violations);
    violations.push(...stage.first.unexpectedEnds.map((text) => `ended unexpectedly: ${text}`));
    return {
      figures: {
        runs: runs.length,
        'killed at the point': runs.filter(({ reached }) => reached).length,
        'acknowledged alerts': sent.filter(({ acknowledgedId }) => acknowledgedId !== null).length,
        filled,
        'all ended after (s)': end.seconds.toFixed(1),
      },
      violations,
    };
  },
});

function planOf({ seeds, points, faults }: { seeds: number; points: string; faults: string }) {
  const wantedPoints = choose(POINTS, points);
  const seedNumbers = Array.from({ length: seeds }, (_, index) => index + 1);
  return choose(FAULTS, faults).flatMap((fault) =>
    wantedPoints.flatMap((point) =>
      seedNumbers.map((seed) => ({ point, fault, name: `${point.name} ${fault.name} ${seed}` })),
    ),
  );
}

async function createLanes(stage: Stage, count: number): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (let index = 0; index < count; index += 1) {
    const { hookKey, ...trader } = await stage.addTrader({ ownHook: true, ownFaults: true });
    if (hookKey === null) throw new Error('a lane needs its own webhook');
    lanes.push({ trader: { ...trader, hookKey }, isOff: false, latest: null });
  }
  return lanes;
}

/** Waits for a lane whose last run has ended, because the faults of a lane must affect only one run. */
async function freeLane(stage: Stage, lanes: Lane[]): Promise<Lane> {
  for (;;) {
    for (const lane of lanes) {
      if (lane.latest === null) return lane;
      if (!(await isEnded(stage, lane))) continue;
      lanes.push(...lanes.splice(lanes.indexOf(lane), 1));
      return lane;
    }
    await sleep(200);
  }
}

async function isEnded({ admin }: Stage, { latest }: Lane): Promise<boolean> {
  if (latest === null) return true;
  const sent = await Promise.race([latest.sent, sleep(5, null)]);
  if (sent === null) return false;
  const { signals } = await admin.get<{ signals: { workflowStatus: string | null }[] }>(
    `/api/signals?token=${latest.token}&limit=10`,
  );
  return signals.every(({ workflowStatus }) =>
    ['completed', 'failed', 'aborted'].includes(workflowStatus ?? ''),
  );
}

async function strike(
  stage: Stage,
  run: { name: string; lane: Lane; point: Point; fault: Fault; token: string },
): Promise<Run> {
  const { name, lane, point, fault, token } = run;
  const { exchange, random, first } = stage;
  const [proxy] = stage.proxies;
  if (proxy === undefined) throw new Error('no proxy');
  const { trader } = lane;
  const target: Target = {
    token,
    accountId: trader.accountId,
    workflowId: null,
    tradeId: null,
    isPlaced: false,
    coin: random.uniform() < 0.5,
  };
  if (lane.isOff) await switchTrading(stage, trader, true);
  lane.isOff = false;
  exchange.setFaults(trader.accountId, fault.exchange ?? []);
  const { promise: death, resolve } = Promise.withResolvers<true>();
  let killed: Promise<void> | null = null;
  const kill = () => {
    killed ??= first.kill9();
    resolve(true);
  };
  const cancels = [proxy.setTrap(observer(target))];
  if (fault.cutsCommit) cancels.push(proxy.setTrap(commitCut(target, 1 + Math.floor(6 * random.uniform()))));
  if ('statement' in point) {
    const { statement, at } = point;
    cancels.push(proxy.setTrap({ at, strike: kill, matches: (seen) => statement(target, seen) }));
  } else if ('call' in point) {
    cancels.push(exchange.setTrap(callTrap(point, target, kill)));
  }
  const body = alertBody({ nonce: name, token, trades: true, isTimed: random.uniform() < 0.5 });
  const sending = sendAlert({ url: () => hookUrl(first.url, trader.hookKey), nonce: name, body });
  lane.latest = { sent: sending, token };
  if (point.at === 'answered') void sending.then(({ acknowledgedId }) => acknowledgedId !== null && kill());
  const reached = (await Promise.race([death, sleep(NOT_REACHED_MS, false)])) === true;
  for (const cancel of cancels) cancel();
  const sent: SentAlert = { nonce: name, acknowledgedId: null, answers: [], slowestMs: 0 };
  void sending.then((ended) => Object.assign(sent, ended));
  if (killed !== null) {
    await killed;
    await first.start();
  }
  if (fault.switchesOff) {
    await switchTrading(stage, trader, false);
    lane.isOff = true;
    return { name, token, lane, fault, reached, sending, sent, switchedOffAt: new Date() };
  }
  return { name, token, lane, fault, reached, sending, sent };
}

const switchTrading = ({ admin }: Stage, { userId }: Trader, activeTrading: boolean) =>
  admin.put(`/api/admin/user/${userId}/active-trading`, { activeTrading });

function shuffle<Item>(items: Item[], uniform: () => number): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(uniform() * (index + 1));
    [items[index], items[other]] = [items[other] as Item, items[index] as Item];
  }
}
