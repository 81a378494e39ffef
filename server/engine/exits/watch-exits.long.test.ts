/** Every case at every exchange and in paper mode. */
import './watch-exits.test.ts';
