// npm run bench [-- name …]: what docs/performance.md reports, measured again. --help lists the benchmarks.
import { join } from 'node:path';
import { ensureBuilt } from './lib/builds.mjs';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  await ensureInstalled();
  const node = findNode();
  if (!args.includes('--help') && !args.includes('-h')) await ensureBuilt(node);
  const main = join(root, 'bench', 'main.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main, ...args], {
    env: nodeEnvironment(node, { NODE_ENV: 'production' }),
  });
});
