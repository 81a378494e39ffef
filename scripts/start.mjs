// npm start: installs and builds what changed, then runs the server.
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';
import { ensureWebBuilt } from './lib/web-build.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  const needsWeb = !args.includes('--help') && !args.includes('-h');
  await ensureInstalled();
  const node = findNode();
  if (needsWeb) await ensureWebBuilt(node);
  const env = nodeEnvironment(node, { NODE_ENV: process.env.NODE_ENV ?? 'production' });
  return run(node, ['--disable-warning=ExperimentalWarning', join(root, 'server', 'main.ts'), ...args], {
    env,
    ipc: true,
  });
});
