/** Every case. */
import './trusted-keys.test.ts';
