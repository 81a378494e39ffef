import { choice, searchReader } from '../../lib/search-reader.ts';

/** The range of equity and results: 7 days without one. */
export const parseDashboardSearch = searchReader({ range: choice(['today', '30d', 'all']) });
export type DashboardSearch = ReturnType<typeof parseDashboardSearch>;
