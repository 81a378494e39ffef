import { z } from 'zod';
import { hasYearOfFourDigits } from '#domain/candle-time.ts';
import { OUTCOME_KINDS } from '#domain/workflow/outcome-kinds.ts';
import { limitedText } from './text.ts';

export const wholeNumber = (what: string, minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${what} must be a whole number`)
    .transform(Number)
    .refine((n) => n >= minimum && n <= maximum, `${what} must be from ${minimum} to ${maximum}`);

export const MAX_PAGE_SIZE = 1000;

/** `page` from 1, `limit` 1 to 1000; anything else is a bad request. */
export const pagingQuery = (defaultLimit: number) =>
  z.object({
    page: wholeNumber('page', 1, 1_000_000).default(1),
    limit: wholeNumber('limit', 1, MAX_PAGE_SIZE).default(defaultLimit),
  });

export const optionalPagingQuery = z.object({
  page: wholeNumber('page', 1, 1_000_000).optional(),
  limit: wholeNumber('limit', 1, MAX_PAGE_SIZE).optional(),
});

/** An empty filter counts as no filter. */
export const filterText = z
  .string()
  .max(100)
  .optional()
  .transform((text) => (text === '' || text === 'all' ? undefined : text));

/** ISO 8601 with a zone, in the range that the database can read. */
export const instantText = limitedText(40).pipe(
  z.iso.datetime({ offset: true, abort: true }).refine((text) => hasYearOfFourDigits(new Date(text)), {
    error: 'must be an ISO 8601 instant with its zone',
    abort: true,
  }),
);

const [FIRST_INSTANT, LAST_INSTANT] = [Date.UTC(1970, 0, 1), Date.UTC(9998, 11, 31)];

/** An instant with a zone; empty means no filter. The months before and after it must be valid dates too. */
export const filterInstant = z
  .union([
    z.literal(''),
    instantText.refine((text) => Date.parse(text) >= FIRST_INSTANT && Date.parse(text) <= LAST_INSTANT, {
      error: 'must lie between the years 1970 and 9998',
    }),
  ])
  .optional()
  .transform((text) => (text === undefined || text === '' ? undefined : new Date(text)));

const order = z.enum(['asc', 'desc'], 'order must be asc or desc').default('desc');

/** Parameters of a list by time: rows received from one instant to another, both included, and their order. */
export const timeQuery = z.object({
  from: filterInstant,
  to: filterInstant,
  sort: z.enum(['time'], 'sort must be time').default('time'),
  order,
});

export const SORTS = ['time', 'token', 'outcome'] as const;
export type Sort = (typeof SORTS)[number];

/** Of a list whose rows have an outcome. Rows with the same token or outcome come newest first. */
export const sortedQuery = timeQuery.extend({
  sort: z.enum(SORTS, 'sort must be time, token or outcome').default('time'),
  outcome: filterText.pipe(
    z.enum(OUTCOME_KINDS, `outcome must be one of ${OUTCOME_KINDS.join(', ')}`).optional(),
  ),
  /** An id or how one begins, with at least eight characters. */
  id: filterText.pipe(
    z
      .string()
      .regex(/^[0-9a-f][0-9a-f-]{7,35}$/i, 'id must be an ID or its first characters, at least 8')
      .optional(),
  ),
});

export const queryBoolean = z
  .enum(['true', 'false'])
  .optional()
  .transform((text) => text === 'true');

export const idParams = z.object({ id: z.uuid() });
export const userIdParams = z.object({ userId: z.uuid() });
export const signalIdParams = z.object({ signalId: z.uuid() });
export const workflowIdParams = z.object({ workflowId: z.uuid() });
