/** Every case. */
import './close-on-breach.test.ts';
