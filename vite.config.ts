import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const apiOrigin = process.env.API_ORIGIN ?? `http://127.0.0.1:${process.env.PORT ?? '3000'}`;

const pureFloors = ['domain', 'contract'].map((floor) => join(import.meta.dirname, floor, '/'));

/** Parts of screens with a list, which the settings and the calculator do without. Card tables share the style. */
const LIST_PARTS =
  '(cell-button|columns-menu|cut-text|data-table(?!\\.module)|filter-select|hidden-columns|list-panel|live-status|pager|use-last-page|' +
  'Icon(ChevronLeft|Columns3|Download|PlayerPause|PlayerPlay))\\.';
const NOT_COMMON = [
  LIST_PARTS,
  'export-button',
  'list-(filters|screen)',
  'dialog(-view)?\\.',
  'return-focus',
  'changes-question',
  'card-table',
  'webhook-',
  'chart(?!-skeleton)',
].join('|');

/**
 * Each takes along what it imports and no earlier one has. What is left (pages, dialogs and what a few of them share)
 * is split by itself.
 */
const CHUNKS = [
  { name: 'sign-in', tags: ['$initial' as const] },
  { name: 'signed-in', test: /[\\/]signed-in-app\.tsx$/ },
  { name: 'lightweight-charts', test: /[\\/](lightweight-charts|fancy-canvas)[\\/]/ },
  {
    name: 'common',
    test: new RegExp(`[\\\\/](web[\\\\/](ui|lib|charts|forms|lists)|@tabler)[\\\\/](?!.*(${NOT_COMMON}))`),
    minShareCount: 3,
  },
  {
    name: 'lists',
    test: new RegExp(`[\\\\/](web[\\\\/](ui|lists)|@tabler[\\\\/].+)[\\\\/]${LIST_PARTS}`),
    minShareCount: 2,
  },
];

export default defineConfig({
  root: 'web',
  plugins: [react(), precompress()],
  // React has brought this hook along for years.
  resolve: {
    alias: { 'use-sync-external-store/shim/with-selector': 'use-sync-external-store/with-selector' },
  },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows fonts and images from this origin only, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      treeshake: {
        // The pure floors do nothing on import: a screen that uses one function leaves decimal.js behind.
        moduleSideEffects: (id) => !pureFloors.some((folder) => id.startsWith(folder)),
      },
      output: { codeSplitting: { groups: CHUNKS } },
    },
  },
  server: { proxy: { '/api': apiOrigin, '/hooks': apiOrigin } },
});

/** The server sends `.br` and `.gz` files that lie beside the originals. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const [fileName, file] of Object.entries(bundle)) {
          if (!/\.(js|css|html|svg)$/.test(fileName)) continue;
          const content = Buffer.from(file.type === 'chunk' ? file.code : file.source);
          if (content.length < 1024) continue;
          const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: brotli });
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(content) });
        }
      },
    },
  };
}
