/** Every case by either route. */
import './orders-by-hand-in-production.test.ts';
