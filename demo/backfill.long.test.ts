/** Every case. */
import './backfill.test.ts';
