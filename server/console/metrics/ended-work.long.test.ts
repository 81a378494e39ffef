/** Every case. */
import './ended-work.test.ts';
