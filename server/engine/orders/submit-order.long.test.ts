/** Every case. */
import './submit-order.test.ts';
