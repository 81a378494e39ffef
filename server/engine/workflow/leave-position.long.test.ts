/** Every case at every exchange. */
import './leave-position.test.ts';
