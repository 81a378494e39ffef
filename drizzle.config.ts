import type { Config } from 'drizzle-kit';

export default {
  dialect: 'postgresql',
  schema: ['./server/platform/db/schema.ts', './server/exchanges/paper/paper-schema.ts'],
  out: './migrations',
} satisfies Config;
