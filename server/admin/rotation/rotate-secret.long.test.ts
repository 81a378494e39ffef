/** Every case. */
import './rotate-secret.test.ts';
