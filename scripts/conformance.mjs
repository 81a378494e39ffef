// npm run conformance: writes docs/conformance.md from the requirements and the tests that name them.
import { runSource } from './lib/run-source.mjs';

await runSource('test/conformance/conformance-page.ts');
