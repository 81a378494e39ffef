/** Every case. */
import './exchange-credentials.test.ts';
