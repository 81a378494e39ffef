/** Every case. */
import './signal-chart.test.ts';
