/** Every case. */
import './send-outbox.test.ts';
