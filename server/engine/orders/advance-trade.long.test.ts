/** Every case. */
import './advance-trade.test.ts';
