// npm run fault-matrix: every fault of an exchange against the whole engine, see docs/reliability.md. --help says more.
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(async () => {
  await ensureInstalled();
  const node = findNode();
  const main = join(root, 'test', 'fault-matrix', 'main.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    env: nodeEnvironment(node),
  });
});
