import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';

interface Modules {
  getModuleInfo: (id: string) => Rolldown.ModuleInfo | null;
}

const apiOrigin = process.env.API_ORIGIN ?? `http://127.0.0.1:${process.env.PORT ?? '3000'}`;

const pureFloors = ['domain', 'contract'].map((floor) => join(import.meta.dirname, floor, '/'));

/** Parts of screens with a list, which the settings and the calculator do without. Card tables share the style. */
const LIST_PARTS =
  '(ago|cell-button|columns-menu|cut-text|data-table(?!\\.module)|filter-select|fold-columns|hidden-columns|id-search|list-panel|live-status|pager|row-cards|row-panel|sort-head|sort-select|time-range|two-lines|use-last-page|' +
  'Icon(ChevronLeft|Columns3|Download|PlayerPause|PlayerPlay))\\.';
/** Of dialogs and of few pages, which most pages load without. */
const DIALOG_PARTS = 'confirm-(change|dialog)|dialog\\.module';
const DOCUMENT_PARTS = 'section|json-view';
const MOMENT_PARTS = 'original-time|full-price';
const COPY_PARTS = 'use-copy|icon-button|Icon(Check|Copy)\\.';

/** So many pages share what is in the common chunk, which all of them load. */
const COMMON_TO_PAGES = 6;
const OUR_PARTS = /[\\/]web[\\/](ui|lib|charts|forms|lists)[\\/]/;
const ROUTER = /[\\/]web[\\/]app[\\/]router\.tsx$/;

/** The pages that import a module without a dialog or another part in between that loads later. */
function countPages(id: string, modules: Modules): number {
  const seen = new Set([id]);
  let pages = 0;
  // Grows while it is walked.
  for (const each of seen) {
    const info = modules.getModuleInfo(each);
    if (info?.dynamicImporters.some((importer) => ROUTER.test(importer))) pages += 1;
    for (const importer of info?.importers ?? []) seen.add(importer);
  }
  return pages;
}

/**
 * Each takes along what it imports and no earlier one has. What is left (pages, dialogs and what a few of them share)
 * is split by itself.
 */
const CHUNKS = [
  { name: 'sign-in', tags: ['$initial' as const] },
  { name: 'signed-in', test: /[\\/]signed-in-app\.tsx$/ },
  { name: 'lightweight-charts', test: /[\\/](lightweight-charts|fancy-canvas)[\\/]/ },
  {
    debugName: 'common',
    name: (id: string, modules: Modules) =>
      OUR_PARTS.test(id) && countPages(id, modules) >= COMMON_TO_PAGES ? 'common' : null,
  },
  { name: 'icons', test: /@tabler/, minShareCount: 6 },
  {
    name: 'dialogs',
    test: new RegExp(`[\\\\/]web[\\\\/](ui|lists)[\\\\/](${DIALOG_PARTS})`),
    minShareCount: 2,
  },
  {
    name: 'moments',
    test: new RegExp(`[\\\\/]web[\\\\/](ui|lib)[\\\\/](${MOMENT_PARTS})`),
    minShareCount: 2,
  },
  {
    name: 'documents',
    test: new RegExp(`[\\\\/]web[\\\\/](ui|lists)[\\\\/](${DOCUMENT_PARTS})`),
    minShareCount: 2,
  },
  { name: 'copy', test: new RegExp(`[\\\\/](${COPY_PARTS})`), minShareCount: 2 },
  // Small, and wanted together by settings and the calculator.
  { name: 'pieces', test: /[\\/]web[\\/]ui[\\/](near-screen|notice|facts)\./ },
  // Shared by lists and positions, which have no list.
  { name: 'filter-select', test: /filter-select/ },
  { name: 'charts', test: /[\\/]web[\\/]charts[\\/](?!.*(base-chart|candle|drawing))/ },
  { name: 'candles', test: /[\\/]web[\\/]charts[\\/]candle-chart(?!.*drawing)/ },
  // Shared by tables of cards and of lists.
  { name: 'card-style', test: /card-table\.module/ },
  // Shared by lists and the settings of a user.
  { name: 'wall-clock', test: /wall-clock\.ts$/ },
  {
    name: 'lists',
    test: new RegExp(`[\\\\/](web[\\\\/](ui|lists)|@tabler[\\\\/].+)[\\\\/]${LIST_PARTS}`),
    minShareCount: 2,
  },
];

/**
 * What is worth asking for before the script that imports it has arrived. The names of all the small ones weigh more than
 * a kibibyte on every page.
 */
const LARGE = /[\\/](common|lists|list-screen|candles)-/;

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
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, scripts, { hostType }) =>
        hostType === 'html' ? scripts : scripts.filter((script) => LARGE.test(script)),
    },
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
