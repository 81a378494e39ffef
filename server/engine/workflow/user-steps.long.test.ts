/** Every case. */
import './user-steps.test.ts';
