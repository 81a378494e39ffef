// npm run backup -- [file]: a backup of everything, while the program runs or not.
import { runSource } from './lib/run-source.mjs';

await runSource('server/backup.ts', { files: true });
