/** Every spelling. */
import './every-write.test.ts';
