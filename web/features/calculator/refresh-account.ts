import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { balancesPath } from './get-trading-user.ts';
import { previewPath } from './preview-position.ts';

/** What the exchange says of the account and the price, and the positions that are sized by it, chart included. */
export const refreshAccount = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      path === previewPath || (typeof path === 'string' && path.startsWith(balancesPath)),
  });

export function useRefreshAccount(): () => void {
  const client = useQueryClient();
  return () => void refreshAccount(client);
}
