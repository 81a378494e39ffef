/** Every case. */
import './migrations.test.ts';
