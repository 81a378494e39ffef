/** Every case. */
import './trade-wave.test.ts';
