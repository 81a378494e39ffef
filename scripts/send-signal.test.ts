import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureHookKey, type ProgramClient, signIn } from '#demo/program-client.ts';
import {
  ADMIN_PASSWORD as password,
  startWorld,
  ADMIN_USERNAME as username,
  type World,
} from '#test/world.ts';

const SCRIPT = fileURLToPath(new URL('send-signal.mjs', import.meta.url));
const execute = promisify(execFile);

let program: World;
let client: ProgramClient;
let hookUrl: string;

beforeAll(async () => {
  program = await startWorld();
  const url = await program.app.listen({ host: '127.0.0.1', port: 0 });
  client = await signIn({ url, username, password });
  hookUrl = `${url}/hooks/trading_view_signal?hkid=${await ensureHookKey({ client, password })}`;
});

afterAll(() => program?.close());

async function send(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return execute(process.execPath, [SCRIPT, ...args]).then(
    (output) => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

describe('send-signal', () => {
  test('sends a signal that the program stores', async () => {
    const args = ['--symbol', 'BITGET:SOLUSDT.P', '--price', '151.5', '--action', 'short', '--text'];
    const { code, stdout } = await send('--url', hookUrl, ...args);
    expect(stdout).toMatch(/^200 .*"duplicate":false/);
    expect(code).toBe(0);
    const { signals } = await client.get<{ signals: unknown[] }>('/api/signals?limit=1');
    expect(signals).toMatchObject([{ token: 'SOL', action: 'sell', price: '151.5', timeframe: '15' }]);
  });

  test('sends a candle to the candle URL even when given the signal URL', async () => {
    const args = ['--symbol', 'BTCUSDT', '--price', '65000', '--high', '65100', '--atr', '300'];
    const { code } = await send('--url', hookUrl, '--candle', ...args);
    expect(code).toBe(0);
    const { priceLogs } = await client.get<{ priceLogs: unknown[] }>('/api/price-logs?limit=1');
    expect(priceLogs).toMatchObject([
      {
        token: 'BTC',
        price: '65000',
        processor: null,
        parameters: { High: '65100', Low: '65000', atr: '300' },
      },
    ]);
  });

  test('ends with 1 and the reason when the signal is refused', async () => {
    const { code, stdout } = await send('--url', hookUrl, '--symbol', 'BTCUSDT', '--price', '0');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^400 .*price/);
  });

  test('names missing and unknown arguments', async () => {
    expect((await send('--url', hookUrl, '--symbol', 'BTCUSDT')).stderr).toContain('--price is missing');
    expect((await send('--volumes', '3')).stderr).toContain("Unknown option '--volumes'");
  });
});
