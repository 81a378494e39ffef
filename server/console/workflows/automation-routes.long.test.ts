/** Every case. */
import './automation-routes.test.ts';
