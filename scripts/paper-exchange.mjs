// npm run paper-exchange: serves paper trading on a port, as Bitget and as Bybit. --help tells the rest.
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(async () => {
  await ensureInstalled();
  const node = findNode();
  const main = join(root, 'test', 'venues', 'program', 'main.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    env: nodeEnvironment(node),
  });
});
