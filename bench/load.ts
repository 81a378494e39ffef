import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { runChild } from './child.ts';
import { type Kind, nextPayload } from './payloads.ts';

export interface Load {
  /** With a 200. */
  answered: number;
  /** With anything else. */
  refused: number;
  errors: number;
  /** Seconds that it really took. */
  seconds: number;
  /** Milliseconds until the answer. */
  p50: number;
  p99: number;
  max: number;
}

export const CONNECTIONS = 50;
const PAYLOADS = fileURLToPath(new URL('payloads.lua', import.meta.url));
const SERIALS_A_RUN = 100_000_000;

let generator: Promise<string> | null = null;

/** wrk costs a tenth of the processor time of a generator in Node, and leaves it to what is measured. */
export function findGenerator(): Promise<string> {
  generator ??= promisify(execFile)('wrk', ['-v']).then(
    () => 'wrk',
    // It prints its version and ends with 1.
    (error: { stdout?: string }) => (/^wrk /.test(error.stdout ?? '') ? 'wrk' : 'autocannon'),
  );
  return generator;
}

export const describeGenerator = async (): Promise<string> =>
  (await findGenerator()) === 'wrk'
    ? 'Load generator: wrk with one thread, on the same processors as everything else.'
    : 'Load generator: autocannon, since there is no wrk on PATH; it takes several times the processor time of wrk from the same processors.';

let runs = 0;

/** Unique deliveries over keep-alive connections, each sending its next one when the last one is answered. */
export async function sendLoad(options: {
  url: string;
  hookKey: string;
  kind: Kind;
  seconds: number;
  connections?: number;
}): Promise<Load> {
  const { url, hookKey, kind, seconds, connections = CONNECTIONS } = options;
  const path = `/hooks/${kind === 'signal' ? 'trading_view_signal' : 'trading_view_candler'}?hkid=${hookKey}`;
  runs += 1;
  const first = runs * SERIALS_A_RUN;
  if ((await findGenerator()) === 'autocannon')
    return sendByAutocannon({ ...options, connections, path, first });
  const shape = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '20s'];
  const output = await runChild('wrk', [...shape, '-s', PAYLOADS, url, '--', kind, path, String(first)], {
    limitMs: (seconds + 60) * 1000,
  });
  const [, result] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (result === undefined) throw new Error(`wrk told no result:\n${output}`);
  return JSON.parse(result) as Load;
}

async function sendByAutocannon(options: {
  url: string;
  kind: Kind;
  seconds: number;
  connections: number;
  path: string;
  first: number;
}): Promise<Load> {
  const { url, kind, seconds, connections, path, first } = options;
  let serial = first;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        setupRequest: (request) => {
          serial += 1;
          return { ...request, body: JSON.stringify(nextPayload(kind, serial)) };
        },
      },
    ],
  });
  const { duration, errors, non2xx, latency } = result;
  return { answered: result['2xx'], refused: non2xx, errors, seconds: duration, ...latency };
}
