// npm run conformance: fills in the tests that prove each requirement of docs/conformance.md.
import { runSource } from './lib/run-source.mjs';

await runSource('test/conformance/conformance-page.ts');
