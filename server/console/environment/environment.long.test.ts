/** Every case. */
import './environment.test.ts';
