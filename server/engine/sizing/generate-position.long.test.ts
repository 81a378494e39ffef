/** Every case. */
import './generate-position.test.ts';
