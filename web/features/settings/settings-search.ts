import { choice, id, searchReader } from '../../lib/search-reader.ts';

export const parseSettingsSearch = searchReader({ userId: id, dialog: choice(['password']) });

export type SettingsSearch = ReturnType<typeof parseSettingsSearch>;
