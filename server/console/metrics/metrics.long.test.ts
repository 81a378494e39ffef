/** Every case. */
import './metrics.test.ts';
