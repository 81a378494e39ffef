/** Every case. */
import './api-tokens.test.ts';
