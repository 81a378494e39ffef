/** Every case. */
import './notices-of-program.test.ts';
