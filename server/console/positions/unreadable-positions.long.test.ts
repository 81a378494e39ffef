/** Every case. */
import './unreadable-positions.test.ts';
