// npm run conformance: writes docs/conformance.md from the requirements and the tests that name them.
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain } from './lib/project.mjs';

await runMain(() => {
  const node = findNode();
  const main = join(root, 'test', 'conformance', 'conformance-page.ts');
  return run(node, ['--disable-warning=ExperimentalWarning', main], { env: nodeEnvironment(node) });
});
