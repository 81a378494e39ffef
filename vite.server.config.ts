import { defineConfig } from 'vite';

/**
 * Bundles the server with its packages: otherwise Node loads 1,100 modules at every start (docs/decisions/0012). Names
 * are not shortened, so that stack traces can be read.
 */
export default defineConfig({
  build: {
    ssr: 'server/main.ts',
    outDir: 'dist/server',
    emptyOutDir: true,
    target: 'node22',
    minify: false,
    copyPublicDir: false,
    rolldownOptions: { output: { chunkFileNames: '[name].js' } },
  },
  ssr: {
    target: 'node',
    noExternal: true,
    // What lies beside files of its own: native code, pages to serve.
    external: ['@node-rs/argon2', '@fastify/swagger-ui'],
  },
});
