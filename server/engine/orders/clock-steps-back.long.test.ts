/** Every case at every exchange. */
import './clock-steps-back.test.ts';
