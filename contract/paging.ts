import { z } from 'zod';

const wholeNumber = (what: string, minimum: number, maximum: number) =>
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

/** A filter that was left empty is no filter (part 2 §5). */
export const filterText = z
  .string()
  .max(100)
  .optional()
  .transform((text) => (text === '' || text === 'all' ? undefined : text));

/** An instant with its zone; left empty it is no filter. */
export const filterInstant = z
  .union([
    z.literal(''),
    z.iso.datetime({ offset: true, error: 'must be an ISO 8601 instant with its zone' }),
  ])
  .optional()
  .transform((text) => (text === undefined || text === '' ? undefined : new Date(text)));

export const queryBoolean = z
  .enum(['true', 'false'])
  .optional()
  .transform((text) => text === 'true');

export const idParams = z.object({ id: z.uuid() });
export const userIdParams = z.object({ userId: z.uuid() });
export const signalIdParams = z.object({ signalId: z.uuid() });
export const workflowIdParams = z.object({ workflowId: z.uuid() });
