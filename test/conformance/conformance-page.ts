import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
export const PAGE = join(ROOT, 'docs/conformance.md');

const TESTS = ['{domain,contract,server,web,test,scripts,bench,demo}/**/*.test.{ts,tsx}', 'e2e/**/*.spec.ts'];
const TAG = /^[ \t]*\/\/ Requirements: (.+)$/gm;
const ROW = /^\| (\S+-\d+) \| (.+) \| .*\|$/gm;

/** A requirement that a test names in a comment such as `// Requirements: screens-header-1, screens-header-2`. */
export interface Tag {
  requirement: string;
  /** The test file, relative to the project root. */
  file: string;
}

export function readTags(): Tag[] {
  return globSync(TESTS, { cwd: ROOT })
    .toSorted()
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(TAG)]
        .flatMap(([, ids = '']) => ids.split(','))
        .map((id) => ({ requirement: id.trim(), file })),
    );
}

/** The requirements in the rows of the page. */
export const requirementsIn = (page: string): { id: string; text: string }[] =>
  [...page.matchAll(ROW)].map(([, id = '', text = '']) => ({ id, text }));

/** Replaces the last column of the page with the files that prove each requirement. */
export function withProofs(page: string, tags: readonly Tag[]): string {
  const tagsOf = Map.groupBy(tags, ({ requirement }) => requirement);
  return page.replaceAll(ROW, (_row, id: string, text: string) => {
    const files = new Set(tagsOf.get(id)?.map(({ file }) => `\`${file}\``));
    return `| ${id} | ${text} | ${[...files].join('<br>')} |`;
  });
}

if (import.meta.main) writeFileSync(PAGE, withProofs(readFileSync(PAGE, 'utf8'), readTags()));
