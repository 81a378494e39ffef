/** Each with every dialect. */
import './account.test.ts';
