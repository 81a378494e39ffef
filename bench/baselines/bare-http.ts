import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What Node itself costs: the body is read, and 200 is answered in as many bytes as a delivery's answer. */
const ANSWER = JSON.stringify({
  success: true,
  id: '01980000-0000-7000-8000-000000000000',
  duplicate: false,
});
const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'content-length': ANSWER.length };

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (Buffer.concat(parts).length === 0) response.writeHead(400).end();
    else response.writeHead(200, HEADERS).end(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
