import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { WebauthnResponse } from '#contract/factors.ts';

// A passkey as a browser and its authenticator answer with it (WebAuthn level 3, attestation 'none', ES256).

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
const ES256 = -7;

/** The part of a server's options that an authenticator reads. */
interface Options {
  challenge: string;
  rp?: { id?: string };
  rpId?: string;
  user?: { id: string };
}

interface Answering {
  /** The page that calls the browser. */
  origin?: string;
  rpId?: string;
  userVerified?: boolean;
  /** What the authenticator counts; without it, one more than before. */
  counter?: number;
}

export interface SoftwarePasskey {
  id: string;
  /** Answers the options of a new passkey. */
  create(options: Options, answering?: Answering): WebauthnResponse;
  /** Answers the options of a sign-in or a confirmation. */
  use(options: Options, answering?: Answering): WebauthnResponse;
}

/** `counts: false`: like passkeys that several devices share, whose counter stays zero. */
export function softwarePasskey({ counts = true } = {}): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rawId = randomBytes(16);
  const id = rawId.toString('base64url');
  let counted = 0;
  let owner: string | undefined;

  function authenticatorData(options: Options, answering: Answering, credential?: Buffer): Buffer {
    const { rpId = options.rpId ?? options.rp?.id ?? 'localhost', userVerified = true } = answering;
    counted = answering.counter ?? (counts ? counted + 1 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(counted);
    const flags =
      USER_PRESENT | (userVerified ? USER_VERIFIED : 0) | (credential === undefined ? 0 : HAS_CREDENTIAL);
    return Buffer.concat([
      createHash('sha256').update(rpId).digest(),
      Buffer.from([flags]),
      counter,
      ...(credential === undefined ? [] : [credential]),
    ]);
  }

  const clientData = (type: string, options: Options, { origin = 'http://localhost' }: Answering) =>
    Buffer.from(JSON.stringify({ type, challenge: options.challenge, origin, crossOrigin: false }));

  return {
    id,
    create(options, answering = {}) {
      owner = options.user?.id;
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const key = new Map<number, CborValue>([
        [1, 2],
        [3, ES256],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const idLength = Buffer.alloc(2);
      idLength.writeUInt16BE(rawId.length);
      const credential = Buffer.concat([Buffer.alloc(16), idLength, rawId, cbor(key)]);
      const attestationObject = cbor(
        new Map<string, CborValue>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authenticatorData(options, answering, credential)],
        ]),
      );
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options, answering).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    use(options, answering = {}) {
      const data = authenticatorData(options, answering);
      const client = clientData('webauthn.get', options, answering);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
          ...(owner === undefined ? {} : { userHandle: owner }),
        },
      };
    },
  };
}

type CborValue = number | string | Buffer | Map<number | string, CborValue>;

const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const MAP = 5;

/** The few types of CBOR (RFC 8949) that authenticators use. */
function cbor(value: CborValue): Buffer {
  if (typeof value === 'number')
    return value < 0 ? cborHead(NEGATIVE, -1 - value) : cborHead(UNSIGNED, value);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([cborHead(TEXT, text.length), text]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(BYTES, value.length), value]);
  const entries = [...value].flatMap(([key, entry]) => [cbor(key), cbor(entry)]);
  return Buffer.concat([cborHead(MAP, value.size), ...entries]);
}

function cborHead(type: number, argument: number): Buffer {
  const major = type << 5;
  if (argument < 24) return Buffer.from([major | argument]);
  if (argument < 256) return Buffer.from([major | 24, argument]);
  return Buffer.from([major | 25, argument >> 8, argument & 0xff]);
}
