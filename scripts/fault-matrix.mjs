// npm run fault-matrix: every fault of an exchange against the whole engine, see docs/reliability.md. --help says more.
import { runSource } from './lib/run-source.mjs';

await runSource('test/fault-matrix/main.ts');
