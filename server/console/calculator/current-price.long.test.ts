/** Every case. */
import './current-price.test.ts';
