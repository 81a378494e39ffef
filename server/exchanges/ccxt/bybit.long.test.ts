/** Every fault. */
import './bybit.test.ts';
