import type { FastifySchemaCompiler } from 'fastify';
import { safeParse, type ZodType } from 'zod';
import { invalidFields } from './errors.ts';
import { plainWords } from './request-guards-words.ts';

/** Checks what came in against the contract; a refusal names each field. */
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
