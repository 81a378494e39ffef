/** Every case. */
import './explain-user.test.ts';
