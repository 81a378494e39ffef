// npm run bench [-- name …]: measures the figures of docs/performance.md. --help lists the benchmarks.
import { ensureBuilt } from './lib/builds.mjs';
import { runSource } from './lib/run-source.mjs';

await runSource('bench/main.ts', { build: ensureBuilt, env: { NODE_ENV: 'production' } });
