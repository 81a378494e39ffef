import { ERRORS, type ErrorBody, type ErrorCode, type FieldError } from '#contract/errors.ts';
import type { UserSettings } from '#contract/settings.ts';
import { isDatabaseUnavailable } from '../db/database-errors.ts';

const RETRY_AFTER_SECONDS = 5;

interface AppErrorOptions {
  /** More exact than the catalogue's text. */
  message?: string;
  errors?: FieldError[];
  failureType?: string;
  /** The current settings. */
  data?: UserSettings;
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A refusal that a caller may see: one entry of the catalogue in contract/errors.ts. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldError[] | undefined;
  readonly failureType: string | undefined;
  readonly data: UserSettings | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.errors = options.errors;
    this.failureType = options.failureType;
    this.data = options.data;
    this.retryAfterSeconds =
      options.retryAfterSeconds ?? (code === 'unavailable' ? RETRY_AFTER_SECONDS : undefined);
  }
}

export const tooManyAttempts = (waitMs: number): AppError =>
  new AppError('tooManyAttempts', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });

/** Throws the catalogue's error if the value is missing. */
export function required<Value>(value: Value | null | undefined, code: ErrorCode): Value {
  if (value == null) throw new AppError(code);
  return value;
}

/** The catalogue's entry for an error; `internal` for an unexpected one. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return new AppError('unavailable', { cause: error });
  return new AppError(codeOfStatus(statusOf(error)), { cause: error });
}

/** 400 with the first field's message as the message. */
export function invalidFields(errors: FieldError[]): AppError {
  const [first] = errors;
  return new AppError('badRequest', first === undefined ? {} : { message: first.message, errors });
}

export function errorBodyOf(error: AppError): ErrorBody {
  return {
    message: error.message,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.failureType === undefined ? {} : { failureType: error.failureType }),
    ...(error.data === undefined ? {} : { data: error.data }),
  };
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : 500;
}

// Fastify's own refusals (malformed address, body too large, unknown content type) come with a status.
function codeOfStatus(status: number): ErrorCode {
  if (status === 413) return 'tooLarge';
  if (status === 415) return 'unsupportedMediaType';
  if (status === 404) return 'notFound';
  if (status >= 400 && status < 500) return 'badRequest';
  return 'internal';
}
