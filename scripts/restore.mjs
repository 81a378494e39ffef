// npm run restore -- file: fills an empty database from a backup; with --replace one that is not empty.
import { runSource } from './lib/run-source.mjs';

await runSource('server/restore.ts', { files: true });
