// npm run fault-matrix: every exchange fault against the whole engine, see docs/reliability.md. --help lists options.
import { runSource } from './lib/run-source.mjs';

await runSource('test/fault-matrix/main.ts');
