/** Every case at every exchange. */
import './move-protection.test.ts';
