import { z } from 'zod';
import { SIZING_METHODS } from '#domain/user-settings.ts';
import { settingsBody } from './settings.ts';

const decimal = z
  .union([z.string().max(40), z.number()])
  .transform(String)
  .refine((text) => /^\d{1,20}(\.\d{1,20})?$/.test(text), 'The price must be a decimal number');

/** Settings that a calculation uses instead of the stored ones, which stay as they are. */
const editedSettings = settingsBody.pick({
  calculationBehavior: true,
  marketType: true,
  positionSizingMethod: true,
  investmentPortion: true,
  maximumRiskPerTrade: true,
});

/** POST /api/internal/position-generator/generate: saves the calculation, trades nothing. */
export const generateBody = z.object({
  signalId: z.uuid(),
  priceLogId: z.uuid().nullable().optional(),
  userId: z.uuid({ error: 'User ID not available - please log in or select a user' }),
  currentMarketPrice: decimal.optional(),
  priceUpdateRequired: z.boolean().optional(),
  priceSource: z.string().max(60).optional(),
  settings: editedSettings.optional(),
});
export type GenerateBody = z.infer<typeof generateBody>;

/** Prices and amounts are decimal strings in USDT; fractions are decimal strings (0.05 = 5%). */
export const calculatedPosition = z.object({
  token: z.string(),
  action: z.enum(['buy', 'sell']),
  position: z.enum(['long', 'short']),
  referencePrice: z.string(),
  priceSource: z.string(),
  entryPrice: z.string(),
  stopLoss: z.string(),
  takeProfit: z.string(),
  leverage: z.number(),
  aligned: z.boolean(),
  epsilon: z.string(),
  atr: z.string().nullable(),
  assetQuantity: z.string(),
  quantity: z.string(),
  investment: z.string(),
  investmentPortion: z.string(),
  riskPercentage: z.string(),
  distanceFraction: z.string(),
  availableBalance: z.string(),
  method: z.enum(SIZING_METHODS),
});
export type CalculatedPosition = z.infer<typeof calculatedPosition>;

/** A parameter of this calculation and its source: 'Built-in default', 'User settings' or the exchange. */
export const hyperparameter = z.object({ name: z.string(), value: z.string(), source: z.string() });
export type Hyperparameter = z.infer<typeof hyperparameter>;

export const calculation = z.object({
  position: calculatedPosition,
  hyperparameters: z.array(hyperparameter),
  calculationReason: z.string(),
  calculationDetail: z.string(),
  /** The method's formula in words, with the numbers of this calculation. */
  methodology: z.array(z.string()),
});
export type Calculation = z.infer<typeof calculation>;

/** Flat; a business refusal is 200 with success false. */
export const generateAnswer = z.discriminatedUnion('success', [
  calculation.extend({
    success: z.literal(true),
    positionGeneratorLogId: z.string(),
    /** Sized with the fallback balance: shown, never traded. */
    isEstimate: z.boolean(),
    message: z.string(),
  }),
  z.object({
    success: z.literal(false),
    positionGeneratorLogId: z.string().nullable(),
    error: z.string(),
    message: z.string(),
    details: z.string(),
    /** In USDT; null when unknown. */
    availableBalance: z.string().nullable(),
  }),
]);
export type GenerateAnswer = z.infer<typeof generateAnswer>;

/** POST /api/internal/position-generator/preview: the same calculation with the edited settings; saves nothing. */
export const previewBody = z.object({
  signalId: z.uuid(),
  userId: z.uuid(),
  settings: editedSettings,
});
export type PreviewBody = z.infer<typeof previewBody>;
export const preview = z.discriminatedUnion('success', [
  calculation.extend({ success: z.literal(true) }),
  z.object({ success: z.literal(false), error: z.string(), details: z.string() }),
]);
export type Preview = z.infer<typeof preview>;
export const previewAnswer = z.object({
  /** The result with the edited settings. */
  chosen: preview,
  /** The three methods side by side, each with the edited portion and risk if it uses them. */
  methods: z.array(z.object({ method: z.enum(SIZING_METHODS), result: preview })),
  isEstimate: z.boolean(),
});
export type PreviewAnswer = z.infer<typeof previewAnswer>;

/** A token followed by USDT. The symbol is parsed, never passed on. */
export const currentPriceParams = z.object({
  symbol: z
    .string()
    .regex(/^[A-Z0-9]{1,20}USDT$/, 'The symbol must be a token of 1 to 20 of A-Z and 0-9, and USDT'),
});
export const currentPriceQuery = z.object({
  marketType: z.string().max(20).optional(),
  /** The user whose exchange is asked; without one, the default exchange. */
  userId: z.uuid().optional(),
});

/** GET /api/current-price/{token}USDT */
export const currentPriceAnswer = z.object({
  success: z.boolean(),
  data: z.object({ currentPrice: z.string(), source: z.string() }).nullable(),
  /** The price service is at its limit or has no price, so the signal price is used. */
  fallbackRequired: z.boolean(),
  message: z.string().optional(),
});
export type CurrentPriceAnswer = z.infer<typeof currentPriceAnswer>;
