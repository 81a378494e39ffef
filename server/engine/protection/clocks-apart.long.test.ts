/** Every difference of the clocks at every exchange. */
import './clocks-apart.test.ts';
