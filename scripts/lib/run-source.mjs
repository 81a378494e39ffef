import { join, resolve } from 'node:path';
import { run } from './child.mjs';
import { ensureInstalled } from './install.mjs';
import { findNode, nodeEnvironment } from './node-runtime.mjs';
import { root, runMain } from './project.mjs';

/**
 * Runs a TypeScript file of the project with the arguments of this command.
 * @param {string} file from the root of the project
 * @param {{ build?: (node: string) => Promise<void>, env?: NodeJS.ProcessEnv, files?: boolean }} [options]
 *   build: runs first, unless help is requested.
 *   files: arguments are file names unless they begin with a dash.
 */
export async function runSource(file, { build, env, files = false } = {}) {
  await runMain(async () => {
    await ensureInstalled();
    const node = findNode();
    const args = process.argv.slice(2);
    if (build && !args.includes('--help') && !args.includes('-h')) await build(node);
    // npm changes to the project's folder; file names are relative to the caller's folder.
    const from = process.env.INIT_CWD ?? process.cwd();
    const given = args.map((arg) => (files && !arg.startsWith('-') ? resolve(from, arg) : arg));
    return run(node, ['--disable-warning=ExperimentalWarning', join(root, file), ...given], {
      env: nodeEnvironment(node, env),
    });
  });
}
