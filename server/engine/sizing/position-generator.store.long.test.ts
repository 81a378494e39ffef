/** Every case. */
import './position-generator.store.test.ts';
