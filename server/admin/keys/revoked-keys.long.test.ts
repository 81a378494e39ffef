/** Every case. */
import './revoked-keys.test.ts';
