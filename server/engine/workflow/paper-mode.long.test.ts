/** Every case. */
import './paper-mode.test.ts';
