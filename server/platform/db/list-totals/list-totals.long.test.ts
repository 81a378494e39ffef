/** Every case. */
import './list-totals.test.ts';
