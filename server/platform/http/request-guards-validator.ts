import type { FastifySchemaCompiler } from 'fastify';
import { type core, safeParse, type ZodType } from 'zod';
import { invalidFields } from './errors.ts';

/** Checks input against the contract; a refusal names each field. */
export const validatorCompiler: FastifySchemaCompiler<ZodType> = ({ schema }) => {
  return (data) => {
    const parsed = safeParse(schema, data, { error: plainWords });
    if (parsed.success) return { value: parsed.data };
    return {
      error: invalidFields(
        parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message })),
      ),
    };
  };
};

const KINDS: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Partial<Record<string, string>> = {
  uuid: 'must be an id',
  datetime: 'must be an ISO 8601 instant with its zone',
};

/** The refusal of a field for which the contract has no words; the validator's words are for programmers. */
function plainWords(issue: core.$ZodRawIssue): string {
  const field = issue.path?.findLast((part) => typeof part === 'string');
  if (field === undefined) {
    return (issue.input ?? null) === null ? 'The request has no body' : 'The request is not valid';
  }
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${faultOf(issue)}`;
}

function faultOf(issue: core.$ZodRawIssue): string {
  // A missing field reads like an empty one.
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return kindFault(issue.expected, issue.input);
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not valid';
    case 'too_small':
      return issue.minimum === 1 && issue.input === '' ? 'is required' : `must be at least ${sizeOf(issue)}`;
    case 'too_big':
      return `must be at most ${sizeOf(issue)}`;
    default:
      return 'is not valid';
  }
}

// A repeated query parameter arrives as a list.
const kindFault = (expected: string, input: unknown): string =>
  Array.isArray(input) && expected === 'string'
    ? 'must be given once'
    : `must be ${KINDS[expected] ?? 'something else'}`;

function sizeOf(issue: core.$ZodRawIssue<core.$ZodIssueTooBig> | core.$ZodRawIssue<core.$ZodIssueTooSmall>) {
  const size = issue.code === 'too_big' ? issue.maximum : issue.minimum;
  if (issue.origin === 'string') return `${size} characters`;
  return issue.origin === 'array' ? `${size} entries` : `${size}`;
}
