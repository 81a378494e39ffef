/** Every case at every exchange, with every wait. */
import './stale-look-ups.test.ts';
