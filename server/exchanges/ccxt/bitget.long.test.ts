/** Every fault. */
import './bitget.test.ts';
