// npm run reset-password -- username: sets a new password, whether or not the program runs.
import { runSource } from './lib/run-source.mjs';

await runSource('server/reset-password.ts');
