// npm run faults: the program killed, frozen and cut off from its database, as docs/reliability.md reports it. --help.
import { join } from 'node:path';
import { ensureServerBuilt } from './lib/builds.mjs';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(async () => {
  await ensureInstalled();
  const node = findNode();
  await ensureServerBuilt(node);
  const main = join(root, 'test', 'faults', 'main.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    env: nodeEnvironment(node),
  });
});
