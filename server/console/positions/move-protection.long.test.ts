/** Every case. */
import './move-protection.test.ts';
