/** An account that does not answer in time, too. */
import './positions.test.ts';
