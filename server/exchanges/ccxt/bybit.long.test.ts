/** The whole suite. */
import './bybit.test.ts';
