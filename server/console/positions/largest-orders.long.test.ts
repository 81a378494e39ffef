/** Every case at every exchange. */
import './largest-orders.test.ts';
