// npm run paper-exchange: serves paper trading on a port, as Bitget and as Bybit. --help says more.
import { runSource } from './lib/run-source.mjs';

await runSource('test/venues/program/main.ts');
