/** The whole suite. */
import './bitget.test.ts';
