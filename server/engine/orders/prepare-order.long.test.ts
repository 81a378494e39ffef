/** Every case. */
import './prepare-order.test.ts';
