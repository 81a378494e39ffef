/** Every case at every exchange. */
import './audit-protection.test.ts';
