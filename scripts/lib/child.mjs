import { spawn } from 'node:child_process';
import { root } from './project.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
const NUMBERS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1, SIGKILL: 9 };
// A terminal's Ctrl-C reaches both npm and this process, and npm forwards it again.
const SAME_SIGNAL_MS = 1_000;

/** Secret settings that no tool (npm, Vite, the demo's feed) needs. */
const SECRETS = [
  'SECRET_KEY',
  'SECRET_KEY_NEXT',
  'ADMIN_PASSWORD',
  'METRICS_TOKEN',
  'HEARTBEAT_URL',
  'DATABASE_URL',
  'EXCHANGE_PROXY_URL',
];

/**
 * The environment for a tool, without secrets: other processes may be able to read it.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutSecrets(env = process.env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.includes(name)));
}

/**
 * Runs a program in the project's folder to its end and returns its exit code. Forwards signals.
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, ipc?: boolean, quiet?: boolean }} [options]
 * @returns {Promise<number>}
 */
export function run(file, args, options = {}) {
  const child = start(file, args, options);
  return ended(child);
}

/**
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, ipc?: boolean, quiet?: boolean }} [options]
 */
export function start(file, args, { env = process.env, ipc = false, quiet = false } = {}) {
  const output = quiet ? 'ignore' : 'inherit';
  return spawn(file, args, {
    cwd: root,
    env,
    stdio: ['inherit', output, 'inherit', ...(ipc ? /** @type {const} */ (['ipc']) : [])],
    shell: process.platform === 'win32' && file.endsWith('.cmd'),
  });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>} its exit code, or 128 and the number of the signal that ended it
 */
export function ended(child) {
  return new Promise((resolve, reject) => {
    let lastPassedOn = 0;
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      if (Date.now() - lastPassedOn < SAME_SIGNAL_MS) return;
      lastPassedOn = Date.now();
      // Windows has no signals: a program started with an IPC channel ends when the channel closes.
      if (process.platform === 'win32' && child.connected) child.disconnect();
      else child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, passOn);
    const watch = watchParent();
    const done = () => {
      clearInterval(watch);
      for (const signal of SIGNALS) process.off(signal, passOn);
    };
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      done();
      resolve(code ?? 128 + (NUMBERS[signal] ?? 0));
    });
  });
}

/**
 * npm sends SIGTERM to the shell that runs a script. Some shells do not forward it, and the script only notices that
 * its parent is gone, so a lost parent counts as SIGTERM.
 */
function watchParent() {
  if (!process.env.npm_lifecycle_event) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  return watch;
}
