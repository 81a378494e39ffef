import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Tag {
  requirement: string;
  /** The test file, relative to the project root. */
  file: string;
}

const TAG = /^[ \t]*\/\/ Requirements: (.+)$/gm;
const TESTS = '{domain,contract,server,web,test,scripts,bench,demo}/**/*.test.{ts,tsx}';

/** The requirements that test files name in comments such as `// Requirements: screens-header-1, screens-header-2`. */
export function readTags(root: string): Tag[] {
  const files = globSync([TESTS, 'e2e/**/*.spec.ts'], { cwd: root }).toSorted();
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(TAG)]
      .flatMap(([, ids = '']) => ids.split(','))
      .map((id) => ({ requirement: id.trim(), file })),
  );
}
