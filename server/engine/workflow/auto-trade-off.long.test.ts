/** Every case. */
import './auto-trade-off.test.ts';
