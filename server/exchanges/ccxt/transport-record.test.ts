import { expect, test } from 'vitest';
import { callRecord } from './transport-record.ts';

test('cuts a long answer to what the database accepts, wherever the cut falls', () => {
  for (const before of ['', 'a']) {
    const body = `${before}${'🔑'.repeat(3_000)}`;
    const { responseData } = callRecord({
      scope: {
        type: 'ticker',
        account: null,
        notAfter: null,
        onCall: null,
        viewerUserId: null,
        sent: true,
        answer: null,
      },
      request: { method: 'GET' },
      target: new URL('https://api.bitget.com/ticker'),
      startedAt: new Date(0),
      durationMs: 1,
      answer: { status: 200, headers: {}, body },
      failure: null,
      success: true,
    });
    expect(JSON.stringify(responseData)).not.toContain('\\ud83d');
    expect(responseData).toMatch(new RegExp(`… \\(${body.length} characters\\)$`));
  }
});
