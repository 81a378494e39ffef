/** Every case. */
import './trading-with-credentials.test.ts';
