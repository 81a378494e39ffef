import { connect } from 'node:net';

/** One kind of request that nobody but an attacker sends, made anew for each use. */
export interface HostileShape {
  name: string;
  /** The bytes of the request. */
  make(serial: number): Buffer;
  /** The rest of the body comes a byte at a time until the connection is given up. */
  slow?: boolean;
}

const KIB = 1024;
/** What the program takes at most: a sign-in, a delivery, a request's head. */
const SIZES = { auth: 16 * KIB, hooks: 64 * KIB, head: 15 * KIB };
const ANSWER_LIMIT_MS = 20_000;
const SLOW_MS = 2_000;

const fill = (text: string, bytes: number) =>
  text.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(text))));
const MARKS = '\u0301\u0316';

/** Bodies of about so many bytes; `fields` are those that the route reads. */
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

/** Heads of about 15 KiB, which is what a request may have. */
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

/** Each sender its own address, and each sign-in a name of its own: no limit may hide what a request costs. */
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

/** Every hostile request to every route that asks for no session. */
export function hostileShapes(): HostileShape[] {
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

/** Sends one and waits until it is answered or the connection ends; answers the status, 0 without one. */
export function sendHostile(url: string, { make, slow }: HostileShape, serial: number): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let status = 0;
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy());
    socket.once('data', (answer) => {
      status = Number(answer.toString('latin1', 9, 12));
      socket.resume();
    });
    // The program may hang up on what is too large while it is still being sent.
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
