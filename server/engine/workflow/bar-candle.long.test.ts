/** Every case. */
import './bar-candle.test.ts';
