// npm run reset-password -- username: a new password for a user, while the program runs or not.
import { runSource } from './lib/run-source.mjs';

await runSource('server/reset-password.ts');
