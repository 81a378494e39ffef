/** Every case. */
import './watch-limits.test.ts';
