/** Every case. */
import './entry-limits.test.ts';
