import { defineConfig } from 'vite';

/**
 * The server in a few files, with what it takes from its packages: 1,100 modules that Node would find, read and strip
 * of their types one by one at every start, and keep (record 0020). Names stay as they are written, so that a stack
 * trace can be read.
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
