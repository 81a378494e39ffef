/** Every case. */
import './backup.test.ts';
