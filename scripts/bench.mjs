// npm run bench [-- name …]: measures what docs/performance.md reports. --help lists the benchmarks.
import { ensureBuilt } from './lib/builds.mjs';
import { runSource } from './lib/run-source.mjs';

await runSource('bench/main.ts', { build: ensureBuilt, env: { NODE_ENV: 'production' } });
