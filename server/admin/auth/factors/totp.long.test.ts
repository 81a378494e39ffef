/** Every case. */
import './totp.test.ts';
