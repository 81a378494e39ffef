import { z } from 'zod';
import { limitedText } from './text.ts';

const MONTH = /^(19|20)\d{2}-(0[1-9]|1[0-2])$/;

/** Without a month: the one of now in the display zone. */
export const statementQuery = z.object({
  month: limitedText(7).regex(MONTH, 'month must be written as 2026-10').optional(),
  format: z.enum(['json', 'csv', 'html'], 'format must be json, csv or html').default('json'),
});

export const STATEMENT_LINES = ['trade', 'fee', 'funding', 'deposit', 'withdrawal', 'other'] as const;

/**
 * GET /api/statements/:userId as JSON. Decimal strings in USDT; opening balance + lines = closing balance, exactly.
 * `complete` false: the ledger of the exchange is not known for the whole month, or does not add up, so balances and fee are null and the lines may lack some.
 */
export const statementAnswer = z.object({
  userId: z.string(),
  username: z.string(),
  month: z.string(),
  timeZone: z.string(),
  from: z.string(),
  /** The month ends here; later than now while it lasts. */
  to: z.string(),
  /**
   * When it was made; with demo and live, until the month is over, until when the ledger was read. Until the month is
   * over, the closing balance is of then.
   */
  at: z.string(),
  complete: z.boolean(),
  openingBalance: z.string().nullable(),
  closingBalance: z.string().nullable(),
  /** Of open positions when the month began and ended, or the last record while it lasts; not part of the balances. Null: not recorded. */
  openProfitAtStart: z.string().nullable(),
  openProfitAtEnd: z.string().nullable(),
  lines: z.array(
    z.object({
      at: z.string(),
      kind: z.enum(STATEMENT_LINES),
      text: z.string(),
      amount: z.string(),
      tradeId: z.string().optional(),
    }),
  ),
  fee: z.object({
    percent: z.string(),
    highWaterMark: z.string().nullable(),
    due: z.string().nullable(),
  }),
});
export type Statement = z.infer<typeof statementAnswer>;

/** GET and PUT /api/admin/user/:userId/statement-fee */
export const statementFeeBody = z.object({
  percent: limitedText(10, 'percent must have at most 10 characters')
    .regex(/^\d{1,3}(\.\d{1,4})?$/, 'percent must be a number with at most four decimals')
    .refine((percent) => Number(percent) <= 100, 'percent must be from 0 to 100'),
});
export type StatementFee = z.infer<typeof statementFeeBody>;

/** POST /api/admin/statement-archives */
export const statementArchiveBody = z.object({
  month: limitedText(7).regex(MONTH, 'month must be written as 2026-10'),
});
export const statementArchiveStarted = z.object({ id: z.string() });

/** GET /api/admin/statement-archives: of the last day, newest first. */
export const statementArchivesAnswer = z.object({
  archives: z.array(
    z.object({
      id: z.string(),
      month: z.string(),
      createdAt: z.string(),
      createdBy: z.string().nullable(),
      state: z.enum(['working', 'ready', 'failed']),
      /** Null until it begins. */
      users: z.number().nullable(),
      done: z.number(),
      /** Of these, the statements that say incomplete. */
      incomplete: z.number(),
      bytes: z.number().nullable(),
    }),
  ),
});
export type StatementArchives = z.infer<typeof statementArchivesAnswer>;
