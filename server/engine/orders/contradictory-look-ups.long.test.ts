/** Every contradiction with each end, at every exchange. */
import './contradictory-look-ups.test.ts';
