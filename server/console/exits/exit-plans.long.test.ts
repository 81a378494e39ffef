/** Every case. */
import './exit-plans.test.ts';
