// npm run restore -- file: fills an empty database from a backup; --replace allows a database with data.
import { runSource } from './lib/run-source.mjs';

await runSource('server/restore.ts', { files: true });
