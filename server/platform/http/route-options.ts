import type { FastifyContextConfig, FastifySchema } from 'fastify';
import type { WriteRule } from './write-rules.ts';

interface RouteSchema extends Pick<FastifySchema, 'params' | 'querystring' | 'body'> {
  answer: unknown;
  /** For routes that change something. */
  write?: WriteRule;
  /** For routes that only read: closed to API tokens. Without it they need the scope `read`. */
  token?: null;
}

/**
 * The options of routes that share their access and their tags in the API document. `answer` is the schema of the
 * answer 200, which drops columns that it does not name.
 */
export function routeOptions<const Access extends FastifyContextConfig['access']>(shared: {
  access: Access;
  beforeFactor?: boolean;
  tags?: string[];
}) {
  const { access, beforeFactor = false, ...tags } = shared;
  return <Schema extends RouteSchema>({ answer, write, token, ...schema }: Schema) => ({
    config: {
      access,
      beforeFactor,
      ...(write === undefined ? {} : { write }),
      ...(token === undefined ? {} : { token }),
    },
    schema: { ...tags, ...schema, response: { 200: answer as Schema['answer'] } },
  });
}
