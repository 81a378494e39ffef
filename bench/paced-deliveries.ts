import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { nextPayload } from './payloads.ts';

export interface Paced {
  /** Milliseconds until each answer. */
  answersMs: number[];
  /** Answered with anything but 200, or not at all. */
  refused: number;
}

// A thread of its own, so that what it measures is not how busy the attacker is. It sends until it is told to end.
const { url, hookKey, everyMs, first } = workerData as {
  url: string;
  hookKey: string;
  everyMs: number;
  first: number;
};
let ended = false;
parentPort?.once('message', () => {
  ended = true;
});

const paced: Paced = { answersMs: [], refused: 0 };
const open = new Set<Promise<void>>();

async function deliver(serial: number): Promise<void> {
  const startedAt = performance.now();
  const status = await fetch(`${url}/hooks/trading_view_candler?hkid=${hookKey}`, {
    method: 'POST',
    body: JSON.stringify(nextPayload('candle', serial)),
    signal: AbortSignal.timeout(20_000),
  }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
  paced.answersMs.push(performance.now() - startedAt);
  if (status !== 200) paced.refused += 1;
}

for (let serial = first; !ended; serial += 1) {
  const sent = deliver(serial).finally(() => open.delete(sent));
  open.add(sent);
  await sleep(everyMs);
}
await Promise.all(open);
parentPort?.postMessage(paced);
