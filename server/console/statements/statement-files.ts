import type { Statement } from '#contract/statements.ts';
import { roundHalfUp } from '#domain/decimal.ts';
import { calendarDay } from '#server/platform/day-start.ts';

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** RFC 4180; text that a spreadsheet would take for a formula is prefixed with an apostrophe. */
export function statementCsv(statement: Statement): string {
  const { userId, month, timeZone, openingBalance, closingBalance, lines, fee } = statement;
  const { end } = endOf(statement);
  const apart = 'not part of the balances';
  const rows = [
    ['At', 'Kind', 'Text', 'Amount USDT', 'Trade ID'],
    [statement.from, 'opening balance', `${userId}, ${month}, ${timeZone}`, unknown(openingBalance), ''],
    ...lines.map(({ at, kind, text, amount, tradeId }) => [at, kind, text, amount, tradeId ?? '']),
    [end, 'closing balance', statement.complete ? '' : 'incomplete', unknown(closingBalance), ''],
    [statement.from, 'open profit at start', apart, unknown(statement.openProfitAtStart), ''],
    [end, 'open profit at end', apart, unknown(statement.openProfitAtEnd), ''],
    [end, 'fee', `${fee.percent} % above ${unknown(fee.highWaterMark)}, not collected`, unknown(fee.due), ''],
  ];
  return toCsv(rows);
}

/** A line for each statement, without its movements. */
export function statementsCsv(statements: readonly Statement[]): string {
  const head = [
    ['Username', 'User ID', 'Month', 'Complete', 'Opening balance USDT', 'Closing balance USDT'],
    ['Open profit at start', 'Open profit at end', 'Fee percent', 'High-water mark', 'Fee due'],
  ];
  const rows = statements.map(({ fee, ...of }) => [
    ...[of.username, of.userId, of.month, of.complete ? 'yes' : 'incomplete'],
    ...[of.openingBalance, of.closingBalance, of.openProfitAtStart, of.openProfitAtEnd].map(unknown),
    ...[fee.percent, fee.highWaterMark, fee.due].map(unknown),
  ]);
  return toCsv([head.flat(), ...rows]);
}

const unknown = (amount: string | null) => amount ?? 'unknown';

const toCsv = (rows: readonly string[][]) =>
  `\ufeff${rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')}`;

function csvCell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const STYLE_OF_STATEMENTS = `@page{size:A4;margin:18mm}body{font:12px/1.5 system-ui,sans-serif;color:#111827;max-width:180mm;margin:24px auto}
h1{font-size:20px;margin:0}p{margin:2px 0 12px;color:#4b5565}table{width:100%;border-collapse:collapse}
th,td{text-align:left;padding:4px 6px;border-bottom:1px solid #e1e5ec;vertical-align:top}tr{break-inside:avoid}thead{display:table-header-group}
td{font-variant-numeric:tabular-nums}td:first-child,td:last-child{white-space:nowrap}td:last-child,th:last-child{text-align:right}
tr.sum td{font-weight:600}h2{font-size:14px;margin:18px 0 4px}
@media screen{body{padding:0 12px}}@media (max-width:480px){td:first-child{white-space:normal}}.apart td:first-child{width:40%}
.warning{padding:6px 10px;background:#fff2da;color:#8a4f00}`;

/** The end of the month, or when the statement was made while the month lasts. */
function endOf({ to, at }: Statement): { end: string; isOver: boolean } {
  const isOver = Date.parse(to) <= Date.parse(at);
  return { end: isOver ? to : at, isOver };
}

/** Two decimals with thousands separators: '−12,345.60'. */
function money(amount: string | null): string {
  if (amount === null) return 'unknown';
  const rounded = roundHalfUp(amount, 2).replace(/^-(?=[0.]+$)/, '');
  const [whole = '', fraction] = rounded.replace('-', '−').split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

/** yyyy/MM/dd HH:mm:ss, as on screens. */
function timeOf(at: string, timeZone: string): string {
  const date = new Date(at);
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' }).format(date);
  return `${calendarDay(date, timeZone).replaceAll('-', '/')} ${time}`;
}

/** A page without scripts that prints on A4. */
export function statementHtml(statement: Statement): string {
  const { username, month, timeZone, openingBalance, closingBalance, lines, fee, complete } = statement;
  const monthName = month.replace('-', '/');
  const { end, isOver } = endOf(statement);
  const row = (at: string, kind: string, text: string, amount: string | null, isSum = false) =>
    `<tr${isSum ? ' class="sum"' : ''}><td>${timeOf(at, timeZone)}</td><td>${kind}</td><td>${escapeHtml(text)}</td><td>${money(amount)}</td></tr>`;
  const apart = (name: string, amount: string | null) => `<tr><td>${name}</td><td>${money(amount)}</td></tr>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Statement ${monthName}, ${escapeHtml(username)}</title>
<meta name="viewport" content="width=device-width"><style>${STYLE_OF_STATEMENTS}</style></head><body>
<h1>Statement ${monthName}</h1><p>${escapeHtml(username)}. Amounts in USDT, times in ${escapeHtml(timeZone)}.</p>
${complete ? '' : '<p class="warning">Incomplete: the ledger of the exchange is not known for the whole month, or does not add up, so balances are unknown and movements may be missing.</p>'}
<table><thead><tr><th>Time</th><th>Kind</th><th>Movement</th><th>Amount</th></tr></thead><tbody>
${row(statement.from, '', 'Opening balance', openingBalance, true)}
${lines.map(({ at, kind, text, amount }) => row(at, kind, text, amount)).join('\n')}
${row(end, '', isOver ? 'Closing balance' : 'Balance so far', closingBalance, true)}
</tbody></table>
<h2>Open profit</h2><p>Of positions that were open, at the prices of that time. Not part of the balances.</p>
<table class="apart"><tbody>
${apart('At the start', statement.openProfitAtStart)}
${apart(isOver ? 'At the end' : 'As last recorded (once an hour)', statement.openProfitAtEnd)}
</tbody></table>
<h2>Fee</h2><p>${escapeHtml(fee.percent)} % of what the month's end is above the high-water mark: ${money(fee.due)} USDT. High-water mark: ${money(fee.highWaterMark)} USDT. Computed, not collected.</p>
</body></html>
`;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
