/** Every fault. */
import './bitget-unified.test.ts';
