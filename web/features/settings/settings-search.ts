import { textParam } from '../../lib/search-params.ts';

export interface SettingsSearch {
  userId?: string | undefined;
  dialog?: 'password' | undefined;
}

export function parseSettingsSearch(raw: Record<string, unknown>): SettingsSearch {
  return {
    // Ids are compared with the own one, and an address may have been typed.
    userId: textParam(raw, 'userId')?.toLowerCase(),
    dialog: raw.dialog === 'password' ? 'password' : undefined,
  };
}
