/** Every case. */
import './flatten.routes.test.ts';
