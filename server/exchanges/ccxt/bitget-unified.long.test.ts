/** The whole suite. */
import './bitget-unified.test.ts';
