/** Every case. */
import './signals-per-day.test.ts';
