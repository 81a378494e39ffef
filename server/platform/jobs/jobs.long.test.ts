/** Every case. */
import './jobs.test.ts';
