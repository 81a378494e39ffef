import { z } from 'zod';
import { isProcessorName } from '#domain/eligibility/processor.ts';
import {
  CALCULATION_BEHAVIORS,
  EXCHANGE_PLATFORMS,
  isPortionAllowed,
  isRiskAllowed,
  MARKET_TYPES,
  SIZING_METHODS,
} from '#domain/user-settings.ts';
import { instantText } from './paging.ts';
import { LONGEST_PASSWORD, limitedText, ownPassword, plainText, tooLongPassword } from './text.ts';

const fraction = (allowed: (text: string) => boolean, message: string) =>
  z
    .string()
    .regex(/^\d{1,3}(\.\d{1,10})?$/, { error: message, abort: true })
    .refine(allowed, message)
    .nullable();

/** Body of PUT: omitted fields keep their value, null means Auto, unknown fields are dropped. */
export const settingsBody = z.object({
  calculationBehavior: z.enum(CALCULATION_BEHAVIORS).optional(),
  marketType: z.enum(MARKET_TYPES).optional(),
  positionSizingMethod: z
    .enum(
      SIZING_METHODS,
      'Positions can be sized by Risk Management, Portfolio Allocation or Technical Analysis',
    )
    .optional(),
  investmentPortion: fraction(
    isPortionAllowed,
    'Investment portion must be above 0 and at most 0.33',
  ).optional(),
  maximumRiskPerTrade: fraction(
    isRiskAllowed,
    'Maximum risk per trade must be above 0 and at most 0.15',
  ).optional(),
  exchangePlatform: z.enum(EXCHANGE_PLATFORMS).optional(),
  signalProcessor: limitedText(100, 'Signal processor must be at most 40 characters')
    .trim()
    .min(1, 'Signal processor is required')
    .max(40, { error: 'Signal processor must be at most 40 characters', abort: true })
    .refine(isProcessorName, 'Signal processor may contain letters, digits, spaces and - _ . only')
    .optional(),
  signalTimeframe: plainText('Signal timeframe', 16).min(1, 'Signal timeframe is required').optional(),
  /** The `updatedAt` that was read: the write is refused if the settings have changed since. Optional. */
  updatedAt: instantText.optional(),
});
export type SettingsBody = z.infer<typeof settingsBody>;

/** Administrators also edit the Automation card. */
export const adminSettingsBody = settingsBody.extend({
  isTestUser: z.boolean().optional(),
  tradingPausedUntil: instantText.nullable().optional(),
  tradeOrderSet: z
    .string()
    .regex(/^[A-Z]$/, 'Trade order set is one letter from A to Z')
    .optional(),
  oppositeSignal: z.enum(['reverse', 'skip']).optional(),
});
export type AdminSettingsBody = z.infer<typeof adminSettingsBody>;

export const userSettings = z.object({
  calculationBehavior: z.string(),
  marketType: z.string(),
  positionSizingMethod: z.string(),
  investmentPortion: z.string().nullable(),
  maximumRiskPerTrade: z.string().nullable(),
  exchangePlatform: z.string(),
  signalProcessor: z.string(),
  signalTimeframe: z.string(),
  activeTrading: z.boolean(),
  isTestUser: z.boolean(),
  tradingPausedUntil: z.string().nullable(),
  tradeOrderSet: z.string(),
  oppositeSignal: z.enum(['reverse', 'skip']),
  updatedAt: z.string(),
});
export type UserSettings = z.infer<typeof userSettings>;

export const settingsAnswer = z.object({ success: z.literal(true), data: userSettings });

export const changePasswordBody = z.object({
  currentPassword: ownPassword('Current password'),
  newPassword: limitedText(LONGEST_PASSWORD, tooLongPassword('Password')).min(
    6,
    'Password must be at least 6 characters',
  ),
});
