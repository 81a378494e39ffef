/** More corrupted answers of each kind. */
import './exchange-suite-fuzz.test.ts';
