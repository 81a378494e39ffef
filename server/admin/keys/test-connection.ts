import type { ConnectionTest } from '#contract/exchange-credentials.ts';
import { denyKey } from '#domain/eligibility/exchange-key.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { type DenialCode, deny } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import { type ExchangeAccount, ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { CredentialsOwner } from './exchange-credentials.store.ts';
import { accountOf, denyStored, messageOf, type Viewer } from './find-account.ts';
import { acceptKey, type GoodKey, namesAccount, rejectKey } from './key-findings.ts';
import { readCredentials } from './seal-credentials.ts';

type TestFailure = Extract<ConnectionTest, { success: false }>;

type TestDeps = Pick<
  Deps,
  'audit' | 'clock' | 'config' | 'db' | 'exchanges' | 'findAccount' | 'jobs' | 'log' | 'secretBox'
>;

/** `key`: the exchange's answer about a good key, else null. */
interface Tested {
  test: ConnectionTest;
  key: GoodKey | null;
}

/**
 * Asks the exchange for the key's permissions and for the futures balance, with the same call that sizes a position. A
 * key with too broad or too narrow permissions fails like one that does not work.
 */
export async function testConnection(
  deps: Pick<Deps, 'config' | 'exchanges'>,
  { platform, account }: { platform: ExchangePlatform; account: ExchangeAccount },
): Promise<Tested> {
  const mode = deps.config.exchangeMode;
  const failed = (error: TestFailure['error'], message: string): Tested => ({
    key: null,
    test: { success: false, exchangePlatform: platform, error, message },
  });
  if (!deps.exchanges.supported.includes(platform)) {
    return failed('refused', deny('exchange_unsupported', { exchange: platform, mode }).reason);
  }
  const exchange = deps.exchanges.get(platform);
  try {
    const key = mode === 'paper' ? null : await exchange.inspectKey(account);
    const problem = key === null ? null : denyKey({ exchange: platform, wanted: exchange.accountModes, key });
    if (problem !== null) return failed('credentials', problem.reason);
    if (key !== null && !namesAccount(key)) {
      const message = `${platform} did not say to which account the API key belongs: nothing is ordered with it`;
      return failed('refused', message);
    }
    const { credentials } = account;
    const accountMode = key?.accountMode ?? credentials.accountMode;
    const balance = await exchange.fetchBalance({ ...account, credentials: { ...credentials, accountMode } });
    return {
      key,
      test: {
        success: true,
        exchangePlatform: platform,
        message:
          mode === 'paper'
            ? 'Paper mode needs no credentials: this is the balance of the paper account'
            : `${platform} accepted the API key`,
        futuresBalance: balance.futuresBalance,
        futuresAvailable: balance.futuresAvailable,
      },
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const said = messageOf(error.message, platform);
    const [failure, what] = FAILURES[error.kind];
    return failed(failure, `${platform} ${what}: ${said}`);
  }
}

/**
 * Tests the stored credentials and stores the result; a success lifts an earlier rejection. In paper mode it tests the
 * paper account.
 */
export async function testStoredConnection(
  deps: TestDeps,
  { userId, platform }: CredentialsOwner,
  viewer: Viewer,
): Promise<ConnectionTest> {
  if (deps.config.exchangeMode === 'paper') {
    const account = await deps.findAccount(userId, platform);
    if (account === null) throw new AppError('credentialsNotFound');
    return (await testConnection(deps, { platform, account })).test;
  }
  const stored = await readCredentials(deps, { userId, platform });
  if (stored.state === 'none') throw new AppError('credentialsNotFound');
  const denial = denyStored(deps, stored, platform);
  if (stored.state === 'locked' || (denial !== null && !MAY_BE_LIFTED.includes(denial.code))) {
    const message = denial?.reason ?? '';
    return { success: false, exchangePlatform: platform, error: 'credentials', message };
  }
  const { row } = stored;
  const account = accountOf(deps, { userId, platform, stored });
  const { test, key } = await testConnection(deps, { platform, account });
  const exchange = deps.exchanges.supported.includes(platform) ? deps.exchanges.get(platform) : null;
  if (key !== null && exchange !== null) {
    const unread = await unlessRead(() => acceptKey(deps, { row, account, exchange }, key));
    if (unread !== null) {
      const message = `${platform} ${FAILURES[unread.kind][1]}: ${messageOf(unread.message, platform)}`;
      return { success: false, exchangePlatform: platform, error: FAILURES[unread.kind][0], message };
    }
  } else if (!test.success && test.error === 'credentials') await rejectKey(deps, row, test.message);
  if (!test.success) return test;
  const known = denyStored(deps, await readCredentials(deps, { userId, platform }), platform, viewer);
  if (known?.code !== 'exchange_account_duplicate') return test;
  return { success: false, exchangePlatform: platform, error: 'duplicate', message: known.reason };
}

/** An account of another kind is read before it is accepted. */
async function unlessRead(accept: () => Promise<void>): Promise<ExchangeError | null> {
  try {
    await accept();
    return null;
  } catch (error) {
    if (error instanceof ExchangeError) return error;
    throw error;
  }
}

/** Denials that a test can lift. */
const MAY_BE_LIFTED: DenialCode[] = ['exchange_key_rejected', 'exchange_account_duplicate'];

const FAILURES: Record<ExchangeError['kind'], [TestFailure['error'], string]> = {
  credentials: ['credentials', 'refused the API key'],
  refused: ['refused', 'refused the request'],
  'retry-later': ['unreachable', 'could not be reached'],
  unknown: ['unreachable', 'could not be reached'],
};
