import { textParam } from '../../lib/search-params.ts';

export interface SettingsSearch {
  userId?: string | undefined;
  dialog?: 'password' | undefined;
}

export function parseSettingsSearch(raw: Record<string, unknown>): SettingsSearch {
  return {
    // Lower-cased because it is compared with the user's own id and the URL may have been typed.
    userId: textParam(raw, 'userId')?.toLowerCase(),
    dialog: raw.dialog === 'password' ? 'password' : undefined,
  };
}
