/** Every case. */
import './automation.test.ts';
