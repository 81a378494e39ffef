// npm run paper-exchange: serves paper trading on a port in the API of Bitget and Bybit. --help lists options.
import { runSource } from './lib/run-source.mjs';

await runSource('test/venues/program/main.ts');
