import { STOP_KINDS, type StopKind } from '#domain/orders/trading-stop.ts';

/** `name` as it was written; null for everybody. */
export interface NamedScope {
  kind: StopKind;
  name: string | null;
}

export type Command =
  | { kind: 'status' }
  | { kind: 'positions' }
  | { kind: 'help' }
  | { kind: 'stop'; scope: NamedScope }
  | { kind: 'flatten'; scope: NamedScope }
  | { kind: 'mute'; ms: number }
  /** A command that cannot be carried out as it is written, and why. */
  | { kind: 'unclear'; reason: string };

const LONGEST_MUTE_MS = 8 * 3_600_000;
const UNIT_MS = { m: 60_000, h: 3_600_000 };
const SCOPES = 'all, strategy <name>, token <name>, user <name>';

/** Reads a message of a chat; null for what is no command. `/stop@name_of_the_bot` is how groups write it. */
export function readCommand(text: string): Command | null {
  const [, name = '', rest = ''] = /^\/([a-z_]{1,32})(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  const words = rest.trim();
  switch (name.toLowerCase()) {
    case '':
      return null;
    case 'status':
      return { kind: 'status' };
    case 'positions':
      return { kind: 'positions' };
    case 'stop':
    case 'flatten':
      return readScoped(name.toLowerCase() as 'stop' | 'flatten', words);
    case 'mute':
      return readMute(words);
    default:
      return { kind: 'help' };
  }
}

function readScoped(kind: 'stop' | 'flatten', words: string): Command {
  if (words === '' || words.toLowerCase() === 'all') return { kind, scope: { kind: 'all', name: null } };
  const [, scope = '', name = ''] = /^(\w+)\s+(.{1,256})$/.exec(words) ?? [];
  const found = STOP_KINDS.find((one) => one === scope.toLowerCase());
  if (found === undefined || found === 'all') {
    return { kind: 'unclear', reason: `Nothing was done. Write /${kind} with one of: ${SCOPES}` };
  }
  if (found === 'token' && !/^[A-Z0-9]{1,20}$/i.test(name))
    return { kind: 'unclear', reason: 'Nothing was done. A token is written like BTC' };
  return { kind, scope: { kind: found, name: found === 'token' ? name.toUpperCase() : name.trim() } };
}

function readMute(words: string): Command {
  const [, number = '', unit = ''] = /^(\d{1,3})\s*([mh])$/i.exec(words) ?? [];
  const ms = Number(number) * (UNIT_MS[unit.toLowerCase() as 'm' | 'h'] ?? 0);
  if (!(ms > 0 && ms <= LONGEST_MUTE_MS))
    return {
      kind: 'unclear',
      reason: 'Nothing was done. Write how long, such as /mute 1h or /mute 30m, up to 8h',
    };
  return { kind: 'mute', ms };
}
