// npm run dev: the server restarts and the browser reloads when a file changes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ended, start, withoutSecrets } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain, say } from './lib/project.mjs';

const WEB_PORT = '5173';

await runMain(async () => {
  await ensureInstalled();
  const node = findNode();
  const dotEnv = existsSync(join(root, '.env')) ? parseEnv(readFileSync(join(root, '.env'), 'utf8')) : {};
  const settings = { ...dotEnv, ...process.env };
  const env = nodeEnvironment(node, {
    APP_ENV: settings.APP_ENV || 'development',
    PORT: settings.PORT || '3000',
    // Unset, because pages are opened at Vite's URL.
    PUBLIC_URL: '',
    NODE_ENV: 'development',
  });
  const watch = ['--watch', '--watch-preserve-output', '--disable-warning=ExperimentalWarning'];
  const server = start(node, [...watch, join(root, 'server', 'main.ts')], { env });
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const web = start(node, [vite, '--port', WEB_PORT, '--strictPort', '--clearScreen', 'false'], {
    env: withoutSecrets(env),
  });
  say(`Server and web restart and reload automatically: http://localhost:${WEB_PORT}`);
  const codes = [server, web].map(ended);
  const first = await Promise.race(codes);
  for (const child of [server, web]) child.kill('SIGTERM');
  await Promise.all(codes);
  return first;
});
