/** Every case. */
import './program.test.ts';
