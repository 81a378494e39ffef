/** Every case. */
import './trading-stops.test.ts';
