/** Every case. */
import './transitions.test.ts';
