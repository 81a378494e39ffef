/** Every case at every exchange. */
import './ledger-statements.test.ts';
