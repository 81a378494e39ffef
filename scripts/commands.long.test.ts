/** Every case. */
import './commands.test.ts';
