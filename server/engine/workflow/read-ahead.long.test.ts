/** Every case at every exchange. */
import './read-ahead.test.ts';
