/** Every case. */
import './look-up-attempt.test.ts';
