/** Every case. */
import './decisions.test.ts';
