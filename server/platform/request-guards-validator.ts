import type { FastifySchemaCompiler } from 'fastify';
import { type core, safeParse, type ZodType } from 'zod';
import { invalidFields } from './errors.ts';

/** Checks what came in against the contract; a refusal names each field. */
export const validatorCompiler: FastifySchemaCompiler<ZodType> = ({ schema }) => {
  return (data) => {
    const parsed = safeParse(schema, data, { error: nameMissingField });
    if (parsed.success) return { value: parsed.data };
    return {
      error: invalidFields(
        parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message })),
      ),
    };
  };
};

/** A field that was not sent reads like one that was sent empty: 'Current password is required'. */
function nameMissingField(issue: core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  const field = issue.path?.at(-1);
  if (field === undefined && (issue.input ?? null) === null) return 'The request has no body';
  if (typeof field !== 'string' || issue.input !== undefined) return undefined;
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} is required`;
}
