/** Every case. */
import './equity-snapshots.test.ts';
