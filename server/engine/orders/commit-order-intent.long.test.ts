/** Every case. */
import './commit-order-intent.test.ts';
