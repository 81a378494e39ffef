/** Every case. */
import './sweep.test.ts';
