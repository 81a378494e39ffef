/** Every case. */
import './notices-of-trading.test.ts';
