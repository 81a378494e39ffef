import { readFile } from 'node:fs/promises';
import { rotateSecret } from './admin/rotation/rotate-secret.ts';
import { runCommand, withDatabase } from './command.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import { findSecretKey, keyPath, weaknessOf } from './platform/config/secret-key.ts';
import { hasCode, StartError } from './platform/db/start-error.ts';

// node server/rotate-secret.ts --new-file file: brings everything that SECRET_KEY seals under the key in the file, while
// the program runs.

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const [option, file, ...more] = args;
  if (option !== '--new-file' || file === undefined || file.startsWith('-') || more.length > 0) {
    throw new StartError('Usage: npm run rotate-secret -- --new-file file');
  }
  const config = readConfig();
  const secretKey = await findSecretKey(config);
  if (secretKey === null) throw new StartError(`There is no ${keyPath(config)}, and SECRET_KEY is unset`);
  const nextKey = await readNewKey(file);
  if (nextKey === secretKey) throw new StartError(`${file} holds the key that is in use already`);
  const kinds = await withDatabase({ config, command: 'rotate-secret' }, (db) =>
    rotateSecret({
      db,
      clock: systemClock,
      keys: { secretKey, nextKey },
      onKind({ name, total, resealed }) {
        console.log(`${name}: ${total} under the new key, ${resealed} of them re-sealed now`);
      },
    }),
  );
  console.log('Nothing is left under the former key.');
  for (const { name, unreadable } of kinds.filter(({ unreadable }) => unreadable > 0)) {
    console.log(
      `${name}: ${unreadable} could not be read with either key, and were not before; left as they are`,
    );
  }
  console.log(nextSteps(config.secretKey === null ? keyPath(config) : null, file));
}

async function readNewKey(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'EISDIR', 'EACCES')) throw new StartError(`${file} cannot be read`);
    throw error;
  });
  const key = text.trim();
  const weakness = weaknessOf(key);
  if (weakness !== null) throw new StartError(`${file} ${weakness}`);
  return key;
}

function nextSteps(keyFile: string | null, file: string): string {
  const replace =
    keyFile === null
      ? `Put the key of ${file} into SECRET_KEY`
      : `Copy ${file} over ${keyFile}, or put its key into SECRET_KEY where that is set`;
  return `
Now, on every instance:
  1. ${replace}, and take SECRET_KEY_NEXT away.
  2. Restart the instance. With the former key alone it would not start any more.
Keep the former key with the backups that were made before: they need it.`;
}
