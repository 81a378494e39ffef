/** Every difference of the clocks. */
import './early-calls.test.ts';
