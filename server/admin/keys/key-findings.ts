import { denyKey } from '#domain/eligibility/exchange-key.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import {
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type KeyInspection,
} from '#server/exchanges/exchange.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { programActor } from '#server/platform/audit/audit-trail.ts';
import { cutText } from '#server/platform/cut-text.ts';
import { required } from '#server/platform/http/errors.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { findUser } from '../users/users.store.ts';
import { claimAccount } from './account-claims.ts';
import { findLostTrades, haltForLost, isOtherKind } from './change-of-kind.ts';
import {
  type CredentialsOwner,
  type CredentialsRow,
  isVerified,
  updateCredentials,
  wakeUnsettledTrades,
} from './exchange-credentials.store.ts';

type FindingDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'exchanges' | 'jobs' | 'log'>;

/** Maximum length of a rejection reason, in characters. */
const LONGEST_REASON = 300;

/** A key that may trade and whose account is known. */
export interface GoodKey extends KeyInspection {
  accountId: string;
}

/**
 * The columns to store for a good key, or (null) for one that was not inspected yet: its first order does that. They
 * lift an earlier rejection. In paper mode the key's mode is unknown.
 */
export const findingsOf = (
  { clock, config, exchanges }: Pick<Deps, 'clock' | 'config' | 'exchanges'>,
  platform: ExchangePlatform,
  key: GoodKey | null,
) => ({
  accountMode: key?.accountMode ?? supportedAccountMode(exchanges, platform),
  exchangeMode: config.exchangeMode === 'paper' ? null : config.exchangeMode,
  inspectedAt: key === null ? null : clock.now(),
  rejectedAt: null,
  rejectedReason: null,
  keyExpiresAt: key?.expiresAt ?? null,
});

export const supportedAccountMode = (exchanges: Deps['exchanges'], platform: ExchangePlatform) =>
  exchanges.supported.includes(platform) ? exchanges.get(platform).accountMode : 'classic';

/**
 * Accepts a key that may trade. Waiting orders continue, unless the account belongs to another user. If the account has
 * become one of another kind, what is held there is looked for first: throws if it cannot be.
 */
export async function acceptKey(
  deps: FindingDeps,
  { row, account, exchange }: { row: CredentialsRow; account: ExchangeAccount; exchange: Exchange },
  key: GoodKey,
): Promise<void> {
  const { accountMode } = key;
  const ofItsKind = { ...account, credentials: { ...account.credentials, accountMode } };
  const lost = isOtherKind(row, key) ? await findLostTrades(deps, { row, exchange, account: ofItsKind }) : [];
  const isNews = !isVerified(row) || row.rejectedAt !== null;
  const owner = ownerOf(row);
  const { accountId } = key;
  await deps.db.transaction(async (tx) => {
    const { since: accountSince } = await claimAccount(tx, deps, { ...owner, accountId });
    const findings = { ...findingsOf(deps, owner.platform, key), accountId, accountSince };
    const isStill = await updateCredentials(tx, row, findings);
    if (isStill) await haltForLost(tx, deps, { row, lost });
    if (isStill && isNews) await wakeUnsettledTrades(tx, deps, owner);
  });
  const { userId, platform } = owner;
  if (isOtherKind(row, key))
    deps.log.warn({ userId, exchangePlatform: platform, accountMode }, 'an account is of another kind now');
}

/** From now on no order is placed with the key. */
export async function rejectKey(
  deps: Pick<Deps, 'audit' | 'clock' | 'db' | 'log'>,
  row: CredentialsRow,
  reason: string,
): Promise<void> {
  if (row.rejectedAt !== null) return;
  const changes = { rejectedAt: deps.clock.now(), rejectedReason: cutText(reason, LONGEST_REASON) };
  const { userId, exchangePlatform, apiKeyHint } = row;
  const isChanged = await deps.db.transaction(async (tx) => {
    if (!(await updateCredentials(tx, row, changes))) return false;
    const owner = required(await findUser(tx, userId), 'userNotFound').user;
    await deps.audit.record(tx, {
      actor: programActor('key watch'),
      action: 'exchange keys refused by the exchange',
      subject: aboutUser(owner),
      after: { exchangePlatform, apiKeyHint, reason: changes.rejectedReason },
    });
    const data = { exchange: exchangePlatform, reason: changes.rejectedReason };
    await noteEvents(tx, [{ code: 'key_refused', userId, data, at: changes.rejectedAt }]);
    return true;
  });
  if (!isChanged) return;
  deps.log.warn(
    { userId, exchangePlatform, reason: changes.rejectedReason },
    'exchange credentials rejected: nothing is traded with them',
  );
}

export const namesAccount = (key: KeyInspection): key is GoodKey => key.accountId !== null;

/**
 * Asks the exchange for the stored key's permissions and stores the answer. Null: the key may trade. Does not check
 * whether the account belongs to another user.
 */
export async function inspectStored(
  deps: FindingDeps,
  { row, account, exchange }: { row: CredentialsRow; account: ExchangeAccount; exchange: Exchange },
): Promise<Denial | null> {
  const { platform } = exchange;
  try {
    const key = await exchange.inspectKey(account);
    const problem = denyKey({ exchange: platform, wanted: exchange.accountModes, key });
    if (problem !== null) {
      await rejectKey(deps, row, problem.reason);
      return problem;
    }
    if (!namesAccount(key)) {
      const message = 'it did not name the account';
      return deny('exchange_key_not_inspected', { exchange: platform, message });
    }
    await acceptKey(deps, { row, account, exchange }, key);
    return null;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const { message } = error;
    if (error.kind === 'credentials') {
      // The key watch has already marked the key as rejected.
      const since = deps.clock.now().toISOString();
      return deny('exchange_key_rejected', { exchange: platform, since, reason: message });
    }
    return deny('exchange_key_not_inspected', { exchange: platform, message });
  }
}

const ownerOf = ({ userId, exchangePlatform }: CredentialsRow): CredentialsOwner => ({
  userId,
  platform: exchangePlatform as ExchangePlatform,
});
