import { z } from 'zod';
import { limitedText, ownPassword } from './text.ts';

export const FACTOR_KINDS = ['totp', 'passkey'] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

export const RECOVERY_CODES = 10;
export const MAX_PASSKEY_NAME = 60;
const MAX_CODE = 40;

const base64url = limitedText(8_000);

/** What a browser returns for a passkey, new or used. */
export const webauthnResponse = z.object({
  id: limitedText(2_000),
  rawId: limitedText(2_000),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url.optional(),
    authenticatorData: base64url.optional(),
    signature: base64url.optional(),
    userHandle: base64url.optional(),
    transports: z.array(limitedText(20)).max(10).optional(),
  }),
});
export type WebauthnResponse = z.infer<typeof webauthnResponse>;

/** Options for the browser's own dialog, as @simplewebauthn makes them. */
export const webauthnOptions = z.looseObject({ challenge: z.string() });

/** Six digits, or a recovery code. */
export const codeBody = z.object({ code: limitedText(MAX_CODE).trim().min(1, 'Code is required') });

export const passkeySummary = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
});
export type PasskeySummary = z.infer<typeof passkeySummary>;

export const factorsAnswer = z.object({
  totp: z.object({ confirmedAt: z.string() }).nullable(),
  passkeys: z.array(passkeySummary),
  recoveryCodesLeft: z.number(),
  /** This user cannot do without a factor: an administrator where real money is traded. */
  required: z.boolean(),
});
export type FactorsAnswer = z.infer<typeof factorsAnswer>;

export const totpAnswer = z.object({ secret: z.string(), otpauthUrl: z.string(), qrSvg: z.string() });
export const recoveryCodesAnswer = z.object({ recoveryCodes: z.array(z.string()) });

export const addPasskeyBody = z.object({
  name: limitedText(MAX_PASSKEY_NAME).trim().min(1, 'Name is required'),
  response: webauthnResponse,
});
export const passkeyAnswer = z.object({ passkey: passkeySummary });
export const passkeyLoginBody = z.object({ assertion: webauthnResponse });

/** One of the three. */
export const stepUpBody = z.union([
  z.object({ password: ownPassword('Password') }),
  codeBody,
  z.object({ assertion: webauthnResponse }),
]);
export type StepUpBody = z.infer<typeof stepUpBody>;
export const stepUpAnswer = z.object({ until: z.string() });

/** `failureType` of the refusal after which the screen asks for a confirmation and repeats the call. */
export const STEP_UP_REQUIRED = 'stepUpRequired';
/** `failureType` for an administrator who has to set up a factor before anything else. */
export const FACTOR_REQUIRED = 'factorRequired';
