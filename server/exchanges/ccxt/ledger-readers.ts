import { D, toPlain } from '#domain/decimal.ts';
import type { LedgerEntry } from '../exchange.ts';
import {
  decimal,
  decimalOrZero,
  instant,
  type Json,
  record,
  textOf,
  tokenOf,
  unreadable,
} from './readers.ts';

/* Readers of the exchanges' ledgers of USDT. A record that cannot be read throws: without it the sum would be wrong. */

type Kind = LedgerEntry['kind'];

interface LedgerRecord {
  id: string;
  at: Date;
  balance: string | null;
  token: string | null;
  clientOrderId: string | null;
  /** What the record added to the wallet, in this order. */
  parts: { kind: Kind; amount: string; text: string }[];
}

/** One entry for each part, newest first. The balance that the record tells is the one after its last part. */
function entriesOf({ id, balance, parts, ...of }: LedgerRecord): LedgerEntry[] {
  if (id === '') throw unreadable('The exchange answered an entry of the ledger without an id');
  const moving = parts.filter(({ amount }) => !D(amount).isZero());
  return moving
    .map((part, index) => ({
      ...{ ...of, ...part },
      id: `${id}:${part.kind}`,
      balance: index === moving.length - 1 ? balance : null,
    }))
    .reverse();
}

const named = (what: string, token: string | null) => (token === null ? what : `${what} ${token}`);

/** Bitget's records of trades in words; null for anything else. v2 and v3 differ in case, order and prefixes. */
function tradeWord(type: string): string | null {
  if (type.startsWith('user_exchange')) return null;
  const sells = /(^|_)sell|open_short|close_long|reduce_.*long|delivery_long|burst_long/.test(type);
  const buys = /(^|_)buy|open_long|close_short|reduce_.*short|delivery_short|burst_short/.test(type);
  if (!sells && !buys) return null;
  if (type.includes('adl')) return 'Auto-deleveraged';
  if (/force|burst/.test(type)) return 'Liquidated';
  return sells ? 'Sold' : 'Bought';
}

const FUNDING = /settle_fee/;
const DEPOSIT = /^(trans_from_|transfer_in$|system_transfer_in$|paptrading_user_in$|deposit)/;
const WITHDRAWAL = /^(trans_to_|transfer_out$|system_transfer_out$|paptrading_user_out$|withdraw)/;

function kindOfBitget(type: string, token: string | null): { kind: Kind; text: string } {
  const trade = tradeWord(type);
  if (trade !== null) return { kind: 'trade', text: named(trade, token) };
  if (FUNDING.test(type)) return { kind: 'funding', text: named('Funding', token) };
  if (DEPOSIT.test(type)) return { kind: 'deposit', text: 'Transfer in' };
  if (WITHDRAWAL.test(type)) return { kind: 'withdrawal', text: 'Transfer out' };
  return { kind: 'other', text: named(inWords(type), token) };
}

/** 'bonus_issue' → 'Bonus issue'. */
function inWords(type: string): string {
  const words = type.replaceAll('_', ' ').trim().slice(0, 60);
  return words === '' ? 'Unnamed' : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Margin that moves between the wallet and a position is no movement of the account. Bitget calls these v2 types
 * 'non-financial'; the v3 ones do the same in isolated margin.
 */
const MARGIN_MOVES =
  /^((auto_)?append_margin|adjust_down_lever_append_margin|reduce_margin|fixed_(back|increase_margin|reduce_margin|lever_pos_in|order_place_frozen|order_frozen_return))$/;

function bitgetEntries(
  bill: Json,
  { id, type: typeField, at, amount }: { id: string; type: string; at: string; amount: string },
): LedgerEntry[] {
  if (textOf(bill.coin) !== 'USDT') return [];
  const type = textOf(bill[typeField]).toLowerCase();
  if (MARGIN_MOVES.test(type)) return [];
  const token = tokenOf(bill);
  const what = kindOfBitget(type.replace(/^fixed_/, ''), token);
  return entriesOf({
    id: textOf(bill[id]),
    at: instant(bill, at),
    balance: balanceIn(bill, 'balance'),
    token,
    // Bitget does not tell orders here.
    clientOrderId: null,
    parts: [
      { ...what, amount },
      // Negative where paid, and not part of the amount.
      { kind: 'fee', amount: decimalOrZero(bill, 'fee'), text: `Fee: ${what.text}` },
    ],
  });
}

const balanceIn = (from: Json, name: string): string | null =>
  textOf(from[name]) === '' ? null : decimal(from, name);

/** A bill of Bitget v2. */
export function billEntries(info: unknown): LedgerEntry[] {
  const bill = record(info);
  return bitgetEntries(bill, {
    ...{ id: 'billId', type: 'businessType', at: 'cTime' },
    amount: decimal(bill, 'amount'),
  });
}

/** A financial record of Bitget v3. Whether amounts of what leaves are negative is not documented; the type tells it. */
export function financialRecordEntries(info: unknown): LedgerEntry[] {
  const bill = record(info);
  const amount = decimal(bill, 'amount');
  const [, direction] = /_(IN|OUT)$/i.exec(textOf(bill.type)) ?? [];
  const size = D(amount).abs();
  const signed = direction?.toUpperCase() === 'OUT' ? size.negated() : size;
  return bitgetEntries(bill, {
    ...{ id: 'id', type: 'type', at: 'ts' },
    amount: direction === undefined ? amount : toPlain(signed),
  });
}

/** Bybit's types of the transaction log whose cash flow is the result of a position. */
const BYBIT_TRADES: Readonly<Record<string, string>> = {
  TRADE: '',
  SETTLEMENT: 'Settled',
  DELIVERY: 'Delivered',
  LIQUIDATION: 'Liquidated',
  ADL: 'Auto-deleveraged',
};

/** A row of Bybit's transaction log. Its change contains funding and fee; what other columns tell counts as the result. */
export function transactionEntries(info: unknown): LedgerEntry[] {
  const row = record(info);
  if (textOf(row.currency) !== 'USDT') return [];
  const token = tokenOf(row);
  const [funding, fee] = [decimalOrZero(row, 'funding'), decimalOrZero(row, 'fee')];
  const flow = flowOfBybit(textOf(row.type), textOf(row.side), token);
  const amount = toPlain(D(decimal(row, 'change')).minus(funding).plus(fee));
  return entriesOf({
    id: textOf(row.id),
    at: instant(row, 'transactionTime'),
    balance: balanceIn(row, 'cashBalance'),
    token,
    clientOrderId: textOf(row.orderLinkId) || null,
    parts: [
      { ...flow, amount },
      { kind: 'funding', amount: funding, text: named('Funding', token) },
      // Positive where paid.
      { kind: 'fee', amount: toPlain(D(fee).negated()), text: `Fee: ${flow.text}` },
    ],
  });
}

function flowOfBybit(type: string, side: string, token: string | null): { kind: Kind; text: string } {
  if (/^TRANSFER_IN/.test(type)) return { kind: 'deposit', text: 'Transfer in' };
  if (/^TRANSFER_OUT/.test(type)) return { kind: 'withdrawal', text: 'Transfer out' };
  const word = Object.hasOwn(BYBIT_TRADES, type) ? BYBIT_TRADES[type] : undefined;
  if (word === undefined) return { kind: 'other', text: named(inWords(type.toLowerCase()), token) };
  return { kind: 'trade', text: named(word || (side === 'Sell' ? 'Sold' : 'Bought'), token) };
}
