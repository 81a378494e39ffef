/** Every case. */
import './stale-work.test.ts';
