/** Every case. */
import './overview.test.ts';
