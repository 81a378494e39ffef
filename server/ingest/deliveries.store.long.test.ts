/** Every case. */
import './deliveries.store.test.ts';
