import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NOTICE_CODES, NOTICES } from '#contract/notices.ts';

// UPDATE=1 rewrites the page.
// Requirements: additions-alerts-1
test('docs/notices.md matches the catalogue', () => {
  const path = join(import.meta.dirname, '../../docs/notices.md');
  const page = [
    '# Notices',
    '',
    'Everything that is sent to the inbox and through the channels ([alerts.md](alerts.md)), from `contract/notices.ts`.',
    'Administrators get all notices; those with *user* also go to the user whom they concern. What a signal does to many',
    'users is sent once, when its workflow ends, with the three most frequent reasons. Of the others, a second one of a',
    'kind within a minute waits for the end of the minute: one message then names all of them.',
    '',
    '| code | severity | for | when | text |',
    '|---|---|---|---|---|',
    ...NOTICE_CODES.map((code) => {
      const { severity, to, when, text } = NOTICES[code];
      return `| \`${code}\` | ${severity} | ${to === 'user' ? 'user, administrators' : 'administrators'} | ${when} | ${text} |`;
    }),
    '',
  ].join('\n');
  if (process.env.UPDATE === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});

// Requirements: additions-alerts-18
test.each(NOTICE_CODES)('%s is caused by what really happens, and arrives, in a test', (code) => {
  const tests = ['notices-of-trading.test.ts', 'notices-of-program.test.ts', 'chat/answer-chats.test.ts'];
  const texts = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));
  expect(texts.some((text) => new RegExp(`expectNotice\\(\\s*'${code}',`).test(text))).toBe(true);
});
