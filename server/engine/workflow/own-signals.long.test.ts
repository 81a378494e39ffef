/** Every case. */
import './own-signals.test.ts';
