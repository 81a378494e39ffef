/** Every case. */
import './exchange-suite-users.test.ts';
