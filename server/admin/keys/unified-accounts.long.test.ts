/** Both changes of an account. */
import './unified-accounts.test.ts';
