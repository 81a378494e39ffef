import { randomBytes } from 'node:crypto';
import {
  CHANNEL_CONFIGS,
  CHANNEL_SECRETS,
  type ChannelConfig,
  type ChannelKind,
} from '#contract/notification-channels.ts';
import { invalidFields } from '#server/platform/http/errors.ts';
import type { SealOptions, SecretBox } from '#server/platform/secret-box.ts';

export type Fields = Record<string, string | number | boolean | null>;
type Shown = Record<string, string | number | boolean>;

const SECRET_BYTES = 32;
const HINT_CHARACTERS = 4;

export const channelPlace = ({ id, ownerUserId }: { id: string; ownerUserId: string }): SealOptions => ({
  purpose: 'notification-channel',
  binding: `${id}:${ownerUserId}`,
});

export const sealConfig = (
  box: Pick<SecretBox, 'seal'>,
  config: ChannelConfig,
  owner: { id: string; ownerUserId: string },
): string => box.seal(JSON.stringify(config), channelPlace(owner));

export const openConfig = (
  box: Pick<SecretBox, 'open'>,
  { configSealed, ...owner }: { configSealed: string; id: string; ownerUserId: string },
): ChannelConfig => JSON.parse(box.open(configSealed, channelPlace(owner))) as ChannelConfig;

export const newSigningSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The configuration as it may be shown: addresses up to their host, other secrets by their end. */
export function shownConfig({ kind, ...config }: ChannelConfig): Shown {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, CHANNEL_SECRETS[kind].includes(name) ? hintOf(name, String(value)) : value]];
    }),
  );
}

function hintOf(name: string, value: string): string {
  if (name === 'password') return '…';
  const end = value.length >= 5 * HINT_CHARACTERS ? value.slice(-HINT_CHARACTERS) : '';
  if (name !== 'url') return `…${end}`;
  const { origin, pathname, search } = new URL(value);
  return pathname === '/' && search === '' ? origin : `${origin}/…${end}`;
}

/**
 * The configuration of a request; of a change together with the stored one. Throws the faults by field. A password is
 * kept only for the server that it was entered for: otherwise a change of the host would send it elsewhere.
 */
export function readConfig(
  kind: ChannelKind,
  given: Fields,
  stored: ChannelConfig | null = null,
): ChannelConfig {
  const kept: Fields = stored === null ? {} : keptFields(stored, given);
  const merged = { ...kept, ...withoutHints(given, stored) };
  const present = Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== null && value !== ''),
  );
  const parsed = CHANNEL_CONFIGS[kind].safeParse(present);
  if (parsed.success) return { kind, ...parsed.data } as ChannelConfig;
  throw invalidFields(
    parsed.error.issues.map(({ path, message }) => ({ path: ['config', ...path].join('.'), message })),
  );
}

function keptFields({ kind: _kind, ...stored }: ChannelConfig, given: Fields): Fields {
  const isOther = (name: string) => given[name] !== undefined && given[name] !== (stored as Fields)[name];
  const isOtherServer = isOther('host') || isOther('port') || isOther('username') || isOther('secure');
  return Object.fromEntries(
    Object.entries(stored as Fields).filter(([name]) => name !== 'password' || !isOtherServer),
  );
}

/** A hint that is sent back stands for what is stored. */
function withoutHints(given: Fields, stored: ChannelConfig | null): Fields {
  const shown = stored === null ? {} : shownConfig(stored);
  const secrets = stored === null ? [] : CHANNEL_SECRETS[stored.kind];
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !(secrets.includes(name) && value === shown[name])),
  );
}
