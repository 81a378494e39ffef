/** Every case. */
import './stop-trading.test.ts';
