import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';

export interface Received {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answer = (response: ServerResponse, received: Received) => void;

const accept: Answer = (response) => response.writeHead(204).end();

export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** A webhook receiver on a port of its own; `answers` are used up one by one, then everything is accepted. */
export async function startReceiver() {
  const received: Received[] = [];
  let answers: Answer[] = [];
  let always: Answer = accept;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', method = '', headers } = request;
      const one = { path: url, method, headers, body: Buffer.concat(chunks).toString('utf8') };
      received.push(one);
      (answers.shift() ?? always)(response, one);
    });
    response.on('error', () => undefined);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const down = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    received,
    url: `http://127.0.0.1:${port}`,
    answer(...next: Answer[]) {
      answers = next;
    },
    answerAlways(next: Answer = accept) {
      always = next;
    },
    /** Nothing listens on the port until `up`. */
    down,
    up: () => listen(port),
    close: async () => {
      if (server.listening) await down();
    },
  };
}

/** A receiver whose certificate is signed by an authority that nobody knows. Counts what reaches it. */
export async function startUntrustedReceiver() {
  let requests = 0;
  const server = createTlsServer(
    { key: UNTRUSTED_KEY, cert: UNTRUSTED_CERTIFICATE },
    (_request, response) => {
      requests += 1;
      response.end();
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const UNTRUSTED_KEY = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIO9vVK7h4P6LdH44s2NhbCut6ebOtV0ApM0tWprh99A7oAoGCCqGSM49
AwEHoUQDQgAEQslh4uTFDbLy7nlXYenTXaFUjCB9l4tjFb0/GnVNeLvajNjH/Aki
Cc3HCtrRTRUOt/V+1Z+wt91Q//OyvfjuUA==
-----END EC PRIVATE KEY-----`;
const UNTRUSTED_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnzCCAUWgAwIBAgIUBQimNjehGAApGzbjJNzyuFiGgp4wCgYIKoZIzj0EAwIw
KTEnMCUGA1UEAwweQW4gYXV0aG9yaXR5IHRoYXQgbm9ib2R5IGtub3dzMCAXDTI2
MTEyODE3MjI0OVoYDzIxMjYxMTA0MTcyMjQ5WjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARCyWHi5MUNsvLueVdh6dNdoVSM
IH2Xi2MVvT8adU14u9qM2Mf8CSIJzccK2tFNFQ639X7Vn7C33VD/87K9+O5Qo14w
XDAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwHQYDVR0OBBYEFNjzPNBz3f1l
BH8+83rddtkQmu6AMB8GA1UdIwQYMBaAFJIT09xp+/cXc5Ws/FmFfi7vWT8hMAoG
CCqGSM49BAMCA0gAMEUCIQCpU6bvgQyM6NCpwLf/nv3Myn7FEY1XdkY0d9iV05aZ
OAIgQXTQGK6VTTXwWCdVvYfwSeNhVK2Uuv49V5rT8iOCwmc=
-----END CERTIFICATE-----`;

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);
/** Never answers. */
export const hang: Answer = () => undefined;
/** A body that never ends. */
export const endless =
  (code: number): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'text/plain' });
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
export const cut: Answer = (response) => response.socket?.destroy();

export interface ReceivedMail {
  from: string;
  to: string[];
  user: string | null;
  data: string;
}

/** A mail server that accepts everything; `refuse` is the answer to its next mails. */
export async function startMailServer() {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let refusal: string | null = null;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const mail: ReceivedMail = { from: '', to: [], user: null, data: '' };
    let isData = false;
    let rest = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 test ESMTP');
    socket.on('data', (chunk) => {
      rest += chunk.toString('utf8');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (isData) {
          if (line === '.') {
            isData = false;
            mails.push({ ...mail, to: [...mail.to] });
            say('250 accepted');
          } else mail.data += `${line}\n`;
          continue;
        }
        const command = line.slice(0, 4).toUpperCase();
        if (command === 'EHLO') say('250-test\r\n250 AUTH PLAIN');
        else if (command === 'AUTH') {
          mail.user =
            Buffer.from(line.split(' ')[2] ?? '', 'base64')
              .toString('utf8')
              .split('\0')[1] ?? null;
          say(refusal ?? '235 welcome');
        } else if (command === 'MAIL') {
          mail.from = line;
          say('250 ok');
        } else if (command === 'RCPT') {
          mail.to.push(line);
          say('250 ok');
        } else if (command === 'DATA') {
          isData = true;
          say('354 go on');
        } else if (command === 'QUIT') {
          say('221 bye');
          socket.end();
        } else say('250 ok');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    mails,
    port: (server.address() as AddressInfo).port,
    refuse(answer: string | null) {
      refusal = answer;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
