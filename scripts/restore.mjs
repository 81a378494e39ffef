// npm run restore -- file: fills an empty database from a backup; with --replace one that is not empty.
import { runServerCommand } from './lib/server-command.mjs';

await runServerCommand('restore.ts');
