/** Every case. */
import './passkeys.test.ts';
