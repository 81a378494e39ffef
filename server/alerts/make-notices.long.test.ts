/** Every case. */
import './make-notices.test.ts';
