/** Every case. */
import './retention.test.ts';
