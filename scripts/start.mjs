// npm start: installs and builds what changed, then runs the server.
import { ensureBuilt, ensureServerBuilt, programArguments } from './lib/builds.mjs';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { runMain } from './lib/project.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  await ensureInstalled();
  const node = findNode();
  const asksForHelp = args.includes('--help') || args.includes('-h');
  await (asksForHelp ? ensureServerBuilt : ensureBuilt)(node);
  const env = nodeEnvironment(node, { NODE_ENV: process.env.NODE_ENV ?? 'production' });
  return run(node, [...programArguments, ...args], { env, ipc: true });
});
