/** Twenty thousand users. */
import './many-users.test.ts';
