import { textParam } from '../../lib/search-params.ts';

export interface SettingsSearch {
  userId?: string | undefined;
  dialog?: 'password' | undefined;
}

export function parseSettingsSearch(raw: Record<string, unknown>): SettingsSearch {
  return {
    userId: textParam(raw, 'userId'),
    dialog: raw.dialog === 'password' ? 'password' : undefined,
  };
}
