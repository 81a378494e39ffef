/** Every case at every exchange. */
import './implausible-balance.test.ts';
