import { queryOptions, useQuery } from '@tanstack/react-query';
import type { NavigationPage } from '#contract/pages.ts';
import { requestJson } from '../lib/api-client.ts';

export const navigationQuery = queryOptions({
  queryKey: ['/api/navigation/pages'],
  queryFn: ({ signal }) => requestJson<{ pages: NavigationPage[] }>('/api/navigation/pages', { signal }),
  select: (answer) => answer.pages,
});

export const useNavigationPages = () => useQuery(navigationQuery);
