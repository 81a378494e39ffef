/** Every case. */
import './verify-decisions.test.ts';
