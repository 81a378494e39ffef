import type { Config } from 'drizzle-kit';

export default {
  dialect: 'postgresql',
  schema: ['./server/platform/database/schema.ts', './server/exchanges/paper/paper-schema.ts'],
  out: './migrations',
} satisfies Config;
