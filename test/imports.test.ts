import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');

const FOLDERS = ['domain', 'contract', 'server', 'web', 'test', 'demo', 'bench', 'scripts', 'e2e'];

/** What each floor may import beyond itself. */
const FLOORS: Record<string, { floors: string[]; packages: string[] }> = {
  domain: { floors: [], packages: ['decimal.js'] },
  contract: { floors: ['domain'], packages: ['zod'] },
  // No devDependencies: the image runs the server's sources without them.
  server: { floors: ['contract', 'domain'], packages: ['node:', ...Object.keys(manifest.dependencies)] },
  demo: { floors: ['contract', 'domain'], packages: ['node:', 'pg', 'trading-signals'] },
  web: {
    floors: ['contract', 'domain'],
    packages: [
      'react',
      'react-dom',
      '@mantine/core',
      '@mantine/hooks',
      '@tabler/icons-react',
      '@tanstack/react-query',
      '@tanstack/react-router',
      'lightweight-charts',
      '@simplewebauthn/browser',
      '@fontsource-variable/inter',
    ],
  },
};

/** The rooms of the server in order: a later room may import an earlier one, never the other way round. */
const ROOMS = [
  'platform',
  'exchanges',
  'admin/users',
  'admin/auth',
  'admin/settings',
  'admin/halts',
  'admin/keys',
  'admin/stops',
  'admin/hooks',
  'ingest',
  'engine/limits',
  'engine/records',
  'engine/sizing',
  'engine/orders',
  'engine/protection',
  'engine/ledger',
  'engine/exits',
  'engine/workflow',
  'console/environment',
  'console/price-logs',
  'console/workflows',
  'console/signals',
  'console/positions',
  'console/limits',
  'console/exits',
  'console/strategies',
  'console/performance',
  'console/statements',
  'console/calculator',
  'console/position-maker',
  'console/events',
  'console/metrics',
  'console/attention',
  'console/audit',
  'console/first-run',
  'alerts',
  'console/overview',
  'admin/retention',
  'admin/backup',
  'admin/rotation',
];

interface Import {
  from: string;
  /** The path of a project file from the root, or the name of a package. */
  to: string;
  isOurs: boolean;
}

/** Imports as the formatter writes them; not in the middle of a line, where SQL has `from` too. */
const SPECIFIER = /(?:^(?:(?:import|export) [^'`\n]*|\}) from |^import |\bimport\(\s*)'([^']+)'/gm;
/** The manifest belongs to no floor. */
const MANIFEST = /\/package\.json$/;

const filesOf = (folder: string) => globSync(`${folder}/**/*.{ts,tsx,mjs}`, { cwd: ROOT });

/** The imports of all files in a folder except tests. */
function importsOf(folder: string): Import[] {
  return filesOf(folder)
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .flatMap(importsIn);
}

function importsIn(from: string): Import[] {
  const source = readFileSync(join(ROOT, from), 'utf8');
  return [...source.matchAll(SPECIFIER)]
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !MANIFEST.test(specifier))
    .map((specifier) => ({ from, ...resolve(from, specifier) }));
}

function resolve(from: string, specifier: string): { to: string; isOurs: boolean } {
  if (specifier.startsWith('#')) return { to: specifier.slice(1), isOurs: true };
  if (specifier.startsWith('.')) return { to: normalize(join(dirname(from), specifier)), isOurs: true };
  return { to: packageOf(specifier), isOurs: false };
}

/** The package of a specifier: `@scope/name` for `@scope/name/file.css`, `node:` for all of Node's modules. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const wrongArrows = (imports: Import[], isWrong: (one: Import) => boolean) =>
  imports.filter(isWrong).map(({ from, to }) => `${from} imports ${to}`);

/** Import cycles, each from a file back to itself; finds at least one if any exist. */
function cyclesIn(imported: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file]);
    if (path.includes(file) || done.has(file)) return;
    for (const next of imported.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of imported.keys()) visit(file, []);
  return cycles;
}

const serverImports = importsOf('server').filter(({ isOurs }) => isOurs);

describe('all files, tests included', () => {
  const files = FOLDERS.flatMap(filesOf);

  test('every folder has files', () => {
    const found = new Set(files.map((file) => file.split('/')[0]));
    expect([...found].toSorted()).toEqual(FOLDERS.toSorted());
  });

  test('there are no import cycles', () => {
    // Type imports count too: files that need each other cannot be understood separately.
    const imported = new Map(files.map((file) => [file, importsIn(file).map(({ to }) => to)]));
    expect(cyclesIn(imported).map((cycle) => cycle.join(' → '))).toEqual([]);
  });
});

describe.each(Object.entries(FLOORS))('the floor %s', (floor, { floors, packages }) => {
  const imports = importsOf(floor);

  test('has files that import each other', () => {
    expect(imports.some(({ to }) => to.startsWith(`${floor}/`))).toBe(true);
  });

  test(`imports no floor but ${['itself', ...floors].join(', ')}`, () => {
    const allowed = [floor, ...floors].map((name) => `${name}/`);
    const isWrong = ({ to, isOurs }: Import) => isOurs && !allowed.some((prefix) => to.startsWith(prefix));
    expect(wrongArrows(imports, isWrong)).toEqual([]);
  });

  test('imports only its packages', () => {
    const isWrong = ({ to, isOurs }: Import) => !isOurs && !packages.includes(to);
    expect(wrongArrows(imports, isWrong)).toEqual([]);
    // An unused package must leave the list; the server's list is the manifest.
    const used = new Set(imports.filter(({ isOurs }) => !isOurs).map(({ to }) => to));
    if (floor !== 'server') expect([...used].toSorted()).toEqual(packages.toSorted());
  });
});

describe('inside the server', () => {
  /** The room of a path; undefined for files above all rooms. */
  const roomOf = (path: string) => /^server\/((?:admin|engine|console)\/[^/]+|[^/]+)\//.exec(path)?.[1];

  test('a room imports only earlier rooms, and only deps.ts of the files above', () => {
    const isWrong = ({ from, to }: Import) => {
      const own = roomOf(from);
      if (own === undefined || !to.startsWith('server/')) return false;
      const other = roomOf(to);
      if (other !== undefined) return ROOMS.indexOf(other) > ROOMS.indexOf(own);
      return to !== 'server/deps.ts' || own === 'platform' || own === 'exchanges';
    };
    expect(wrongArrows(serverImports, isWrong)).toEqual([]);
  });

  test('every room has a place in the order', () => {
    const found = serverImports.map(({ from }) => roomOf(from)).filter((room) => room !== undefined);
    expect([...new Set(found)].toSorted()).toEqual(ROOMS.toSorted());
  });
});

describe('inside the web', () => {
  const webImports = importsOf('web').filter(({ isOurs }) => isOurs);
  const layers = [['lib'], ['ui'], ['charts', 'forms'], ['lists'], ['features'], ['app']];
  const partOf = (path: string) => /^web\/(features\/[^/]+|[^/]+)\//.exec(path)?.[1] ?? 'app';
  const layerOf = (path: string) => layers.findIndex((names) => names.includes(path.split('/')[1] ?? ''));

  test('a later folder imports only earlier ones: lib, ui, charts and forms, lists, features, app', () => {
    const isWrong = ({ from, to }: Import) => {
      if (!to.startsWith('web/') || partOf(from) === partOf(to) || partOf(from) === 'app') return false;
      return layerOf(to) >= layerOf(from);
    };
    expect(webImports.filter(({ from }) => layerOf(from) < 0 && partOf(from) !== 'app')).toEqual([]);
    expect(wrongArrows(webImports, isWrong)).toEqual([]);
  });
});
