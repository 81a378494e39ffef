/** Every case. */
import './shared-accounts.test.ts';
