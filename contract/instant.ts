import { z } from 'zod';
import { hasYearOfFourDigits } from '#domain/candle-time.ts';
import { limitedText } from './text.ts';

const RULE = 'must be an ISO 8601 instant with its zone';

/** ISO 8601 with its zone, as the database can read it. */
export const instantText = limitedText(40).pipe(
  z.iso
    .datetime({ offset: true, abort: true })
    .refine((text) => hasYearOfFourDigits(new Date(text)), { error: RULE, abort: true }),
);
