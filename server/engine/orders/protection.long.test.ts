/** Every case. */
import './protection.test.ts';
