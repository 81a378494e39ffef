/** Every case. */
import './trading-conditions.test.ts';
