// npm run faults: kills and freezes the program and its database, see docs/reliability.md. --help lists options.
import { ensureServerBuilt } from './lib/builds.mjs';
import { runSource } from './lib/run-source.mjs';

await runSource('test/faults/main.ts', { build: ensureServerBuilt });
