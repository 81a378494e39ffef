/** Every case. */
import './order-requests.test.ts';
