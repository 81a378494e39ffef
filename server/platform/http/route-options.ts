import type { FastifyContextConfig, FastifySchema } from 'fastify';

interface RouteSchema extends Pick<FastifySchema, 'params' | 'querystring' | 'body'> {
  answer: unknown;
}

/**
 * The options of routes that share their access and their tags in the API document. `answer` is the schema of the
 * answer 200, which drops columns that it does not name.
 */
export function routeOptions<const Access extends FastifyContextConfig['access']>(shared: {
  access: Access;
  tags?: string[];
}) {
  const { access, ...tags } = shared;
  return <Schema extends RouteSchema>({ answer, ...schema }: Schema) => ({
    config: { access },
    schema: { ...tags, ...schema, response: { 200: answer as Schema['answer'] } },
  });
}
