/** Every case. */
import './password-limits.test.ts';
