import { z } from 'zod';
import { fieldError } from './errors.ts';

export const MAX_DELIVERY_BYTES = 64 * 1024;
export const MAX_PAYLOAD_DEPTH = 20;
/** Far beyond what an alert of TradingView holds; what reading a body costs grows with its values. */
export const MAX_PAYLOAD_VALUES = 1000;

export const deliveryStored = z.object({
  success: z.literal(true),
  id: z.string(),
  duplicate: z.boolean(),
  /** What of the stored delivery cannot be read: `ATR "$3" is not a number`. */
  warnings: z.array(z.string()).optional(),
});
export const deliveryRefused = z.object({
  success: z.literal(false),
  message: z.string(),
  errors: z.array(fieldError).optional(),
});
