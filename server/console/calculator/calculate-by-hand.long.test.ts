/** Every case. */
import './calculate-by-hand.test.ts';
