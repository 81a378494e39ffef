/** Every case. */
import './end-restored-work.test.ts';
