import { passwordLengthFault } from '#domain/password-length.ts';
import type { Config } from '#server/platform/config/config.ts';
import { typedUsernameKey, usernameKey } from './user-rows.ts';

const MOST_USED = 10_000;

interface NewPassword {
  password: string;
  /** As typed; only compared with the new password here. */
  currentPassword?: string;
  username: string;
  isAdmin: boolean;
  exchangeMode: Config['exchangeMode'];
  /** Signing in takes a second factor. */
  hasFactor?: boolean;
}

/** The message to return for a refused password; null when it is accepted. */
export async function passwordFault(options: NewPassword): Promise<string | null> {
  const { password, currentPassword, username } = options;
  if (password === currentPassword) return 'Password must not be the current one';
  const key = usernameKey(username);
  if ([key, key.split('@', 1)[0]].includes(typedUsernameKey(password) ?? '')) {
    return 'Password must not be the username';
  }
  if (new Set(password).size === 1) return 'Password must not be one character repeated';
  if ((await loadMostUsed()).has(password.toLowerCase())) {
    return 'This is one of the most used passwords. Choose another one.';
  }
  return passwordLengthFault(password, options);
}

let mostUsed: Promise<Set<string>> | undefined;

/** Loaded when the first password is set: most starts do not need the list. */
function loadMostUsed(): Promise<Set<string>> {
  mostUsed ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].slice(0, MOST_USED)),
  );
  return mostUsed;
}
