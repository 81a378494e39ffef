import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import type { App } from './http-app.ts';
import { DOCS_CONTENT_SECURITY_POLICY } from './security-headers.ts';

const PREFIX = '/api/docs';

/** The API's own description at /api/docs, made from the contracts, for administrators. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Signal Board',
        description: 'Trading signals in, sized and protected futures orders out.',
        version: '0.1.0',
      },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { unrepresentable: 'any' } }),
  });
  await app.register(async (scope) => {
    scope.decorate('scopeAccess', 'admin');
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', DOCS_CONTENT_SECURITY_POLICY);
    });
    await scope.register(swaggerUi, { routePrefix: PREFIX, uiConfig: { validatorUrl: null } });
  });
}
