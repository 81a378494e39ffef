import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { SignalChart } from '#contract/charts.ts';
import type { PreviewAnswer } from '#contract/position-generator.ts';
import type { AccountBalanceAnswer, OrderResult } from '#contract/position-maker.ts';
import type { PriceLogDetail } from '#contract/price-logs.ts';
import type { UserSettings } from '#contract/settings.ts';
import type { SignalDetail } from '#contract/signals.ts';
import type { UsersAnswer } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useKeptWhileLive } from '../../lib/live/live-context.tsx';
import { readSettings, type StoredSettingsAnswer } from '../../lib/read-settings.ts';
import { usersPath } from '../../lib/user-paths.ts';
import type { CalculationSettings } from './calculation-settings.ts';

const signalPath = (signalId: string) => `/api/signals/${encodeURIComponent(signalId)}`;

export const useSignal = (signalId: string) =>
  useQuery<SignalDetail>({ queryKey: [signalPath(signalId)], staleTime: 0 });

export const useSignalChart = (signalId: string) =>
  useQuery<SignalChart>({ queryKey: [`${signalPath(signalId)}/chart`], staleTime: 0 });

export const usePriceLog = (hashValue: string | null) =>
  useQuery<PriceLogDetail>({
    queryKey: [`/api/price-logs/hash/${encodeURIComponent(hashValue ?? '')}`],
    enabled: hashValue !== null,
  });

/** All users without paging, including inactive ones. */
export const useTradingUsers = () =>
  useQuery<UsersAnswer, Error, UsersAnswer['users']>({
    queryKey: [usersPath],
    select: ({ users }) => users,
    staleTime: 0,
  });

export const useTradingSettings = (path: string) =>
  useQuery<StoredSettingsAnswer, Error, UserSettings>({
    queryKey: [path],
    select: readSettings,
    ...useKeptWhileLive(),
  });

const BALANCES_PATH = '/api/admin/account-balance/';
const BALANCE_RETRIES = 2;

/** Not cached: each visit fetches it. */
export const useAccountBalance = (userId: string) =>
  useQuery<Partial<AccountBalanceAnswer>>({
    queryKey: [`${BALANCES_PATH}${encodeURIComponent(userId)}`],
    retry: BALANCE_RETRIES,
    staleTime: 0,
    gcTime: 0,
  });

const PREVIEW_PATH = '/api/internal/position-generator/preview';
const EDITING_PAUSE_MS = 300;

/** Previews the position for the edited settings and all three methods side by side, without saving. */
export function usePreview(request: { signalId: string; userId: string; settings: CalculationSettings }) {
  const { signalId, userId } = request;
  const settings = useSettled(request.settings, EDITING_PAUSE_MS);
  const body = { signalId, userId, settings };
  return useQuery({
    queryKey: [PREVIEW_PATH, body] as const,
    queryFn: ({ signal }) => requestJson<PreviewAnswer>(PREVIEW_PATH, { method: 'POST', body, signal }),
    // Keep the previous figures while settings are edited, but never those of another signal or user.
    placeholderData: (former, query) => {
      const of = query?.queryKey[1];
      return of?.signalId === signalId && of.userId === userId ? former : undefined;
    },
    staleTime: 0,
  });
}

/** Debounces a value. The library's debounce hook is larger because of its options. */
function useSettled<Value>(value: Value, pauseMs: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}

export const orderKey = (positionGeneratorLogId: string) =>
  ['/api/position-maker/orders', { positionGeneratorLogId }] as const;

const ORDER_POLL_MS = 1_000;

/** The order's current state. Live events announce each stage; a poll backs them up while it runs or is expected. */
export const useOrder = (calculationId: string | undefined, { isExpected }: { isExpected: boolean }) =>
  useQuery<{ order: OrderResult | null }, Error, OrderResult | null>({
    queryKey: orderKey(calculationId ?? ''),
    select: ({ order }) => order,
    enabled: calculationId !== undefined,
    refetchInterval: ({ state: { data } }) =>
      (isExpected && !data?.order) || data?.order?.done === false ? ORDER_POLL_MS : false,
    staleTime: 0,
  });

/** Refetches the data that depends on the account and the price: the balance and the positions sized by it. */
export const refreshAccount = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      path === PREVIEW_PATH || (typeof path === 'string' && path.startsWith(BALANCES_PATH)),
  });
