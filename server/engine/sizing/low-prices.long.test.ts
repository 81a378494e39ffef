/** Every case at every exchange. */
import './low-prices.test.ts';
