// npm run backup -- [file]: a full backup, whether or not the program runs.
import { runSource } from './lib/run-source.mjs';

await runSource('server/backup.ts', { files: true });
