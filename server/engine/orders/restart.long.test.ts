/** Every case. */
import './restart.test.ts';
