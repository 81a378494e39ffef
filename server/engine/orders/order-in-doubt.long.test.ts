/** Every case. */
import './order-in-doubt.test.ts';
