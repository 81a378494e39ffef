/** Every fault, for all of a position and for a part. */
import './close-open-position.test.ts';
