/** Every case. */
import './first-run.test.ts';
