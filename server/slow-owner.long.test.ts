/** A burst beyond the limit of an owner. */
import './slow-owner.test.ts';
