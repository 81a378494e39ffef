/** Every case. */
import './held-elsewhere.test.ts';
