/** Every case. */
import './history.test.ts';
