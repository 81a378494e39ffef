// npm run COMMAND: runs a TypeScript source of the project with the arguments of the command.
import { join, resolve } from 'node:path';
import { ensureBuilt, ensureServerBuilt } from './lib/builds.mjs';
import { run } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain, SetupError } from './lib/project.mjs';

/**
 * build: runs first, unless help is requested.
 * takesFiles: arguments are file names unless they begin with a dash.
 * @type {Record<string, { source: string, build?: (node: string) => Promise<void>, env?: NodeJS.ProcessEnv, takesFiles?: boolean }>}
 */
const COMMANDS = {
  backup: { source: 'server/backup.ts', takesFiles: true },
  restore: { source: 'server/restore.ts', takesFiles: true },
  'reset-password': { source: 'server/reset-password.ts' },
  'stop-trading': { source: 'server/stop-trading.ts' },
  'rotate-secret': { source: 'server/rotate-secret.ts', takesFiles: true },
  'audit:verify': { source: 'server/audit-verify.ts' },
  'paper-exchange': { source: 'test/venues/program/main.ts' },
  'fault-matrix': { source: 'test/fault-matrix/main.ts' },
  faults: { source: 'test/faults/main.ts', build: ensureServerBuilt },
  bench: { source: 'bench/main.ts', build: ensureBuilt, env: { NODE_ENV: 'production' } },
  conformance: { source: 'test/conformance/conformance-page.ts' },
};

await runMain(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  const command = COMMANDS[name];
  if (command === undefined) throw new SetupError(`There is no command "${name}"`);
  const { source, build, env, takesFiles = false } = command;
  await ensureInstalled();
  const node = findNode();
  if (build && !args.includes('--help') && !args.includes('-h')) await build(node);
  // npm changes to the project's folder; file names are relative to the caller's folder.
  const from = process.env.INIT_CWD ?? process.cwd();
  const given = args.map((arg) => (takesFiles && !arg.startsWith('-') ? resolve(from, arg) : arg));
  return run(node, ['--disable-warning=ExperimentalWarning', join(root, source), ...given], {
    env: nodeEnvironment(node, env),
  });
});
