/** Every fault. */
import './faults.test.ts';
