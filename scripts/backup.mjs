// npm run backup -- [file]: a backup of everything, while the program runs or not.
import { runServerCommand } from './lib/server-command.mjs';

await runServerCommand('backup.ts');
