// npm run faults: the program killed, frozen and cut off from its database, see docs/reliability.md. --help says more.
import { ensureServerBuilt } from './lib/builds.mjs';
import { runSource } from './lib/run-source.mjs';

await runSource('test/faults/main.ts', { build: ensureServerBuilt });
