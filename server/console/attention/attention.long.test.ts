/** Every case. */
import './attention.test.ts';
