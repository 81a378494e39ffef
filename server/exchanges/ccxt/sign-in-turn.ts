import type { CcxtClient } from './dialect.ts';
import type { Transport } from './transport.ts';

/**
 * Lets the client wait for its turn before it signs a request: an exchange takes no signature that is some seconds old
 * (Bybit's is five), and the wait for a request limit may be longer.
 */
export function signInTurn<Client extends Pick<CcxtClient, 'fetch2'>>(
  client: Client,
  transport: Pick<Transport, 'turn'>,
): Client {
  const send = client.fetch2.bind(client);
  client.fetch2 = async (path, ...rest) => {
    await transport.turn(String(path));
    return send(path, ...rest);
  };
  return client;
}
