/** Every case. */
import './refused-reversal.test.ts';
