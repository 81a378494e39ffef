import { join, resolve } from 'node:path';
import { run } from './child.mjs';
import { ensureInstalled } from './install.mjs';
import { findNode, nodeEnvironment } from './node-runtime.mjs';
import { root, runMain } from './project.mjs';

/**
 * Runs a command of the server's, with the arguments that were given, on the Node that runs the program.
 * @param {string} file in the folder server
 * @param {{ files?: boolean }} options files: the arguments are names of files, unless they begin with a dash
 */
export async function runServerCommand(file, { files = true } = {}) {
  await runMain(async () => {
    await ensureInstalled();
    const node = findNode();
    // npm changes to the project's folder, and so does what is started here: a file is meant from where the call came.
    const from = process.env.INIT_CWD ?? process.cwd();
    const given = process.argv
      .slice(2)
      .map((arg) => (files && !arg.startsWith('-') ? resolve(from, arg) : arg));
    const args = ['--disable-warning=ExperimentalWarning', join(root, 'server', file), ...given];
    return run(node, args, { env: nodeEnvironment(node) });
  });
}
