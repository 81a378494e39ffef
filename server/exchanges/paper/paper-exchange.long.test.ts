/** The suite at every exchange. */
import './paper-exchange.test.ts';
