import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Paced, sendPaced } from './deliveries.ts';
import { type Bench, median, percentile } from './figures.ts';
import { type Program, pidOf, requireRunning, UNLIMITED, withProgram } from './harness.ts';

const AT_ONCE = 20;
const DELIVERY_EVERY_MS = 20;
/** How much hostile requests may slow down concurrent deliveries. */
const MOST_ADDED_MS = 100;
const NAMED = 5;
const LIMIT_MS = 20 * 60_000;

// Valid deliveries come from a worker thread, so a busy attacker does not delay their sending.
if (!isMainThread) {
  const ended = new AbortController();
  parentPort?.once('message', () => ended.abort());
  parentPort?.postMessage(await sendPaced({ ...workerData, signal: ended.signal }));
}

/** Attacks every route that needs no session while valid deliveries run. */
export const hostile: Bench = {
  about: 'deliveries while hostile requests come in, and what the worst one costs',
  takes: '5 minutes',
  async run({ add, say, short }) {
    const sizes = short
      ? { requests: 4, samples: 3, calmSeconds: 3 }
      : { requests: 200, samples: 7, calmSeconds: 20 };
    const shapes = hostileShapes();
    const costs: { name: string; ms: number }[] = [];

    async function measure(program: Program): Promise<void> {
      const attack = createAttack(program);
      say(`processor time of ${shapes.length} shapes`);
      const quick = process.platform === 'linux' ? shapes.filter(({ slow }) => !slow) : [];
      for (const shape of quick) {
        await attack([shape], 1, 1);
        const each: number[] = [];
        for (let sample = 0; sample < sizes.samples; sample += 1) {
          const before = await threadsMs(pidOf(program.server));
          await attack([shape], 1, 1);
          each.push((await threadsMs(pidOf(program.server))) - before);
        }
        costs.push({ name: shape.name, ms: median(each) });
      }
      say('calm');
      const calm = await deliverDuring(program, () => sleep(sizes.calmSeconds * 1000));
      say(`${sizes.requests} of each, one at a time`);
      const single = await deliverDuring(program, () => attack(shapes, sizes.requests, 1));
      say(`${sizes.requests} of each, ${AT_ONCE} at once`);
      const many = await deliverDuring(program, () => attack(shapes, sizes.requests, AT_ONCE));
      const p99 = ({ answersMs }: Paced) => percentile(answersMs, 0.99);
      add('deliveries, answer p99, calm', 'ms', p99(calm));
      add('deliveries, answer p99, hostile requests one at a time', 'ms', p99(single));
      add(`deliveries, answer p99, ${AT_ONCE} hostile requests at once`, 'ms', p99(many));
      const target = { most: MOST_ADDED_MS };
      add('added by one at a time', 'ms', p99(single) - p99(calm), target);
      add(`added by ${AT_ONCE} at once`, 'ms', p99(many) - p99(calm), target);
      const slowest = Math.max(...single.answersMs, ...many.answersMs);
      add('deliveries, slowest answer meanwhile', 'ms', slowest);
      add('deliveries refused', '', calm.refused + single.refused + many.refused, { most: 0 });
    }

    const env = { ...UNLIMITED, TRUST_PROXY: 'loopback', METRICS_TOKEN: 'the token of a benchmark' };
    await withProgram(env, measure);
    const worst = costs.toSorted((a, b) => b.ms - a.ms);
    for (const { name, ms } of worst.slice(0, NAMED)) add(`processor time of one: ${name}`, 'ms', ms);
    return {
      about: `${shapes.length} shapes of hostile requests, ${sizes.requests} of each one at a time and ${AT_ONCE} at once, while a valid delivery is sent every ${DELIVERY_EVERY_MS} ms`,
      notes: [
        'Each request comes from an address of its own, through a trusted proxy, so that no limit by address hides what one costs.',
        `Processor time is that of all threads of the program, the median of ${sizes.samples} requests sent alone; the ${NAMED} most expensive shapes are named. A sign-in costs one password hash, known user or not.`,
      ],
    };
  },
};

/** Sends `requests` requests of each shape, `atOnce` of them concurrently. */
function createAttack({ server }: Program) {
  const deadline = Date.now() + LIMIT_MS;
  let serial = 0;
  return async (shapes: readonly HostileShape[], requests: number, atOnce: number): Promise<void> => {
    for (const shape of shapes) {
      requireRunning();
      if (Date.now() > deadline) throw new Error('The hostile requests took too long');
      // Slow requests only wait, so send all of them concurrently.
      const side = shape.slow ? requests : atOnce;
      for (let sent = 0; sent < requests; sent += side) {
        const batch = Array.from({ length: Math.min(side, requests - sent) }, () => {
          serial += 1;
          return sendHostile(server.url, shape, serial);
        });
        await Promise.all(batch);
      }
    }
  };
}

/** Processor milliseconds of all threads; schedstat is finer than the hundredths of a second in /proc/<pid>/stat. */
async function threadsMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  );
  return texts.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]) / 1e6, 0);
}

let deliverers = 0;

/** Sends valid deliveries at a steady pace until `work` is done. */
async function deliverDuring({ server, hookKey }: Program, work: () => Promise<void>): Promise<Paced> {
  deliverers += 1;
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { url: server.url, hookKey, everyMs: DELIVERY_EVERY_MS, first: deliverers * 1_000_000 },
  });
  try {
    await work();
    worker.postMessage('end');
    const [paced] = (await once(worker, 'message')) as [Paced];
    return paced;
  } finally {
    await worker.terminate();
  }
}

/** A kind of request that only an attacker sends, built freshly for each use. */
interface HostileShape {
  name: string;
  /** The bytes of the request. */
  make(serial: number): Buffer;
  /** The rest of the body is sent byte by byte until the sender hangs up. */
  slow?: boolean;
}

const KIB = 1024;
/** The program's size limits: a sign-in, a delivery, a request's head. */
const SIZES = { auth: 16 * KIB, hooks: 64 * KIB, head: 15 * KIB };
const ANSWER_LIMIT_MS = 20_000;
const SLOW_MS = 2_000;

const fill = (text: string, bytes: number) =>
  text.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(text))));
const MARKS = '\u0301\u0316';

/** Bodies of about `bytes` bytes; `fields` are the fields that the route reads. */
function bodies(bytes: number, fields: readonly string[]): Record<string, string> {
  const room = bytes - 300;
  const [field = 'x'] = fields;
  const each = (text: string) =>
    JSON.stringify(Object.fromEntries(fields.map((name) => [name, fill(text, room / fields.length - 20)])));
  const list = (item: (at: number) => string, size: number) =>
    Array.from({ length: Math.floor(room / size) }, (_, at) => item(at)).join(',');
  return {
    'combining marks': each(MARKS),
    'ligatures that grow when they are normalised': each('\ufdfa'),
    'blanks around nothing': each(' '),
    'digits as text': each('7'),
    'placeholders that never end': each('{{a{'),
    'one long number': `{"${field}":${fill('7', room)}}`,
    'one long fraction': `{"${field}":0.${fill('7', room)}}`,
    'many numbers': `{"${field}":[${list(() => '1e308', 6)}]}`,
    'nested lists': `{"${field}":${fill('[', room / 2)}${fill(']', room / 2)}}`,
    'nested objects': `{"${field}":${fill('{"a":', room / 2)}1${fill('}', room / 10)}}`,
    'lists side by side': `{"${field}":[${list(() => '[[[]]]', 7)}]}`,
    'many fields': `{${list((at) => `"f${at.toString(36)}":1`, 9)}}`,
    'many numbered fields': `{${list((at) => `"${(at * 7_919_417) % 4_294_967_294}":1`, 14)}}`,
    'one field again and again': `{${list(() => `"${field}":1`, field.length + 5)}}`,
    'escaped characters': `{"${field}":"${fill('\\u0041', room)}"}`,
    'almost a prototype': `{${list(() => '"\\u005f_proto_":1', 18)}}`,
    'a name that never ends': `{"${fill('\\"', room)}":1}`,
    'not JSON at its end': `{"${field}":"${fill('x', room)}"`,
    'not UTF-8': 'not UTF-8',
  };
}

const toBytes = (name: string, text: string, bytes: number) =>
  name === 'not UTF-8' ? Buffer.alloc(bytes - 300, 0xff) : Buffer.from(text);

/** Heads of about 15 KiB, the limit for a request. */
const HEADS: Record<string, (serial: number) => { path?: string; headers?: string[] }> = {
  'a long query': () => ({ path: `?${fill('a=b&', SIZES.head)}` }),
  'an encoded query': () => ({ path: `?hkid=${fill('%CC%81%CC%96', SIZES.head)}` }),
  'a long path': () => ({ path: `/${fill('a/', SIZES.head)}` }),
  'an encoded path': () => ({ path: `/${fill('%CC%81', SIZES.head)}` }),
  'a path that climbs': () => ({ path: `/${fill('..%2f', SIZES.head)}` }),
  'a path of dots': () => ({ path: `/${fill('a.', SIZES.head)}js` }),
  'a path that cannot be decoded': () => ({ path: `/${fill('%zz', SIZES.head)}` }),
  'many cookies': () => ({ headers: [`Cookie: ${fill('a=b; ', SIZES.head)}`] }),
  'an encoded cookie': () => ({ headers: [`Cookie: sid=${fill('%41', SIZES.head)}`] }),
  'many addresses': () => ({ headers: [`X-Forwarded-For: ${fill('127.0.0.1, ', SIZES.head)}`] }),
  'a long address': () => ({ headers: [`X-Forwarded-For: ${fill('0:', SIZES.head)}1`] }),
  'an address that is none': () => ({ headers: [`X-Forwarded-For: ${fill('1.', SIZES.head)}`] }),
  'many forwarded hosts': () => ({ headers: [`X-Forwarded-Host: ${fill('a, ', SIZES.head)}`] }),
  'an encoded origin': () => ({ headers: [`Origin: http://${fill('%CC%81%CC%96', SIZES.head)}`] }),
  'a token of blanks': () => ({ headers: [`Authorization: Bearer ${fill(' ', SIZES.head)}x x`] }),
  'a long media type': () => ({ headers: [`Content-Type: application/json;${fill(' a=b;', SIZES.head)}`] }),
  'many encodings': () => ({ headers: [`Accept-Encoding: ${fill('br;q=0.1, ', SIZES.head)}`] }),
  'many ranges': () => ({ headers: [`Range: bytes=${fill('0-1,', SIZES.head)}0-1`] }),
  'many headers': () => ({ headers: Array.from({ length: 900 }, (_, at) => `x-${at}: ${at}`) }),
  'a head that is too large': () => ({ headers: [`x: ${fill('x', 64 * KIB)}`] }),
};

const READS = [
  '/',
  '/assets/a.js',
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/auth/user',
  '/api/docs',
  '/api/nothing',
];
const WRITES = [
  { path: '/api/auth/login', bytes: SIZES.auth, fields: ['username', 'password'] },
  { path: '/api/auth/logout', bytes: SIZES.auth, fields: ['x'] },
  { path: '/api/nothing', bytes: 256 * KIB, fields: ['x'] },
  {
    path: '/hooks/trading_view_signal?hkid=nobodys',
    bytes: SIZES.hooks,
    fields: ['symbol', 'action', 'price', 'timeframe', 'processor', 'time'],
  },
  {
    path: '/hooks/trading_view_candler?hkid=nobodys',
    bytes: SIZES.hooks,
    fields: ['Symbol', 'Timeframe', 'DateTime', 'Close', 'Currency', 'processor'],
  },
];

/** A different sender for each request, so no rate limit hides its cost. */
const senderOf = (serial: number) =>
  `X-Forwarded-For: 10.${(serial >> 16) & 255}.${(serial >> 8) & 255}.${serial & 255}`;

function request(options: {
  method: string;
  path: string;
  headers?: readonly string[] | undefined;
  body?: Buffer;
  serial: number;
}): Buffer {
  const { method, path, headers = [], body, serial } = options;
  const given = headers.some((header) => header.startsWith('X-Forwarded-For')) ? [] : [senderOf(serial)];
  const isTyped = headers.some((header) => header.startsWith('Content-Type'));
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    ...given,
    ...headers,
    ...(body === undefined
      ? []
      : [...(isTyped ? [] : ['Content-Type: application/json']), `Content-Length: ${body.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** Every hostile request to every route that needs no session. */
function hostileShapes(): HostileShape[] {
  const shapes: HostileShape[] = [];
  for (const path of [...READS, ...WRITES.map((write) => write.path)]) {
    const method = READS.includes(path) ? 'GET' : 'POST';
    for (const [name, head] of Object.entries(HEADS)) {
      shapes.push({
        name: `${method} ${plain(path)}, ${name}`,
        make(serial) {
          const { path: rest = '', headers } = head(serial);
          const body = method === 'POST' ? { body: Buffer.from('{}') } : {};
          return request({
            method,
            path: `${path === '/' ? '' : path}${rest}` || '/',
            headers,
            serial,
            ...body,
          });
        },
      });
    }
  }
  for (const { path, bytes, fields } of WRITES) {
    for (const [name, text] of Object.entries(bodies(bytes, fields))) {
      const body = toBytes(name, text, bytes);
      shapes.push({
        name: `POST ${plain(path)}, ${name}`,
        make: (serial) => request({ method: 'POST', path, body, serial }),
      });
    }
    const large = Buffer.alloc(2 * bytes, 'x');
    shapes.push({
      name: `POST ${plain(path)}, a body that is too large`,
      make: (serial) => request({ method: 'POST', path, body: large, serial }),
    });
    shapes.push({
      name: `POST ${plain(path)}, a slow body`,
      slow: true,
      make: (serial) =>
        request({ method: 'POST', path, body: Buffer.alloc(bytes, '['), serial }).subarray(0, -bytes),
    });
  }
  shapes.push({
    name: 'POST /api/auth/login, a name of its own each',
    make: (serial) =>
      request({
        method: 'POST',
        path: '/api/auth/login',
        body: Buffer.from(JSON.stringify({ username: `nobody${serial}@example.com`, password: 'wrong' })),
        serial,
      }),
  });
  return shapes;
}

const plain = (path: string) => path.split('?', 1)[0] ?? path;

/** Sends one request and returns the status of the response; 0 when the connection ended without a response. */
function sendHostile(url: string, { make, slow }: HostileShape, serial: number): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let status = 0;
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy());
    socket.once('data', (answer) => {
      status = Number(answer.toString('latin1', 9, 12));
      socket.resume();
    });
    // The program may hang up on an oversized request that is still being sent.
    socket.on('error', () => {});
    socket.write(make(serial));
    const drip = slow ? setInterval(() => socket.write('['), 100) : undefined;
    const enough = slow ? setTimeout(() => socket.destroy(), SLOW_MS) : undefined;
    socket.once('close', () => {
      clearInterval(drip);
      clearTimeout(enough);
      resolve(status);
    });
  });
}
