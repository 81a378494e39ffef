import { join, resolve } from 'node:path';
import { run } from './child.mjs';
import { ensureInstalled } from './install.mjs';
import { findNode, nodeEnvironment } from './node-runtime.mjs';
import { root, runMain } from './project.mjs';

/**
 * Runs a command of the server's, with the arguments that were given, on the Node that runs the program.
 * @param {string} file in the folder server
 */
export async function runServerCommand(file) {
  await runMain(async () => {
    await ensureInstalled();
    const node = findNode();
    // npm changes to the project's folder, and so does what is started here: a file is meant from where the call came.
    const from = process.env.INIT_CWD ?? process.cwd();
    const given = process.argv.slice(2).map((arg) => (arg.startsWith('-') ? arg : resolve(from, arg)));
    const args = ['--disable-warning=ExperimentalWarning', join(root, 'server', file), ...given];
    return run(node, args, { env: nodeEnvironment(node) });
  });
}
