/** Every scope of a stop. */
import './stopped-fan-out.test.ts';
