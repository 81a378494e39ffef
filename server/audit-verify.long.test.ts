/** Everything that the command refuses. */
import './audit-verify.test.ts';
