/** Every case. */
import './workflow-outcomes.test.ts';
