// npm run paper-exchange: the paper exchange on a port of its own, as Bitget and as Bybit. --help tells the rest.
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(async () => {
  await ensureInstalled();
  const node = findNode();
  const main = join(root, 'scripts', 'paper', 'main.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    env: nodeEnvironment(node),
  });
});
