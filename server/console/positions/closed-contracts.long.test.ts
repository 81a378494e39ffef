/** Every kind of contract with each end. */
import './closed-contracts.test.ts';
