/** Every case at every exchange. */
import './old-prices.test.ts';
