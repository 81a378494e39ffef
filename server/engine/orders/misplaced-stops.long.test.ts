/** Every case at every exchange. */
import './misplaced-stops.test.ts';
