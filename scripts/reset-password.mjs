// npm run reset-password -- username: a new password for who forgot theirs, while the program runs or not.
import { runServerCommand } from './lib/server-command.mjs';

await runServerCommand('reset-password.ts', { files: false });
