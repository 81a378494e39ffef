import {
  changeLeverage,
  changeMarginMode,
  changePositionMode,
  changePositionModeOfToken,
} from '#server/exchanges/paper/account-settings.ts';
import type { MarginMode } from '#server/exchanges/paper/book.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import { type PrivateRoutes, settled } from '../dialect.ts';
import { isGiven } from '../parameters.ts';
import { VenueRefusal } from '../refusals.ts';
import { struckLeverage } from '../struck-orders.ts';
import { ledgerOf, ledgerPage } from '../venue-ledger.ts';
import { transactionView } from './order-views.ts';
import { cursorAfter, idInCursor } from './pages.ts';
import { limitIn, linear, oneOf, periodIn, wrong } from './parameters.ts';
import { walletView } from './views.ts';

const MARGIN_MODES: Record<MarginMode, string> = {
  isolated: 'ISOLATED_MARGIN',
  crossed: 'REGULAR_MARGIN',
};

/** Unified account 2.0 (pro), and the status of an account that was never upgraded. */
const MARGIN_STATUS = { unified: 6, classic: 1 };

export const BYBIT_ACCOUNT: PrivateRoutes = {
  'GET /v5/account/wallet-balance': async ({ parameters, books, owner, inAccount }) => {
    const isUnified = books.keyOf(owner.userId).accountMode !== 'classic';
    if (parameters.accountType !== 'UNIFIED') throw wrong('accountType only support UNIFIED.');
    if (!isUnified) throw wrong('accountType only support CONTRACT or SPOT.');
    const wallet = await inAccount(async (session) => walletView(session.account, await session.balances()));
    return { list: [wallet] };
  },

  /** Both ends of the period belong to it. Transfers belong to no category. */
  'GET /v5/account/transaction-log': async (call) => {
    const { parameters, owner, books, inAccount, now } = call;
    if (isGiven(parameters, 'accountType') && parameters.accountType !== 'UNIFIED')
      throw wrong('accountType only support UNIFIED.');
    await settled(call);
    const { category } = parameters;
    const query = {
      ...periodIn(parameters, now),
      before: idInCursor(parameters.cursor),
      limit: limitIn(parameters, { usual: 20, most: 50 }),
    };
    const rows = await inAccount(({ db }) => ledgerOf(db, owner, books.movements));
    const asked = rows.filter(({ token }) => !isGiven(parameters, 'category') || token !== null);
    if (isGiven(parameters, 'category') && category !== 'linear') return { list: [], nextPageCursor: '' };
    const page = ledgerPage(asked, query);
    const last = page.at(-1);
    return {
      list: page.map((row) => transactionView(row, owner.userId)),
      nextPageCursor: last ? cursorAfter(last.id, last.at) : '',
    };
  },

  'GET /v5/account/info': async ({ books, owner, now, inAccount }) => {
    const { marginMode } = await inAccount(async ({ account }) => account);
    return {
      marginMode: MARGIN_MODES[marginMode ?? 'crossed'],
      updatedTime: String(now.getTime()),
      unifiedMarginStatus: MARGIN_STATUS[books.keyOf(owner.userId).accountMode ?? 'unified'],
      dcpStatus: 'OFF',
      timeWindow: 10,
      smpGroup: 0,
      isMasterTrader: false,
      spotHedgingStatus: 'OFF',
    };
  },

  /** Bybit does not document whether setting the current mode again succeeds or is refused; here it succeeds. */
  'POST /v5/account/set-margin-mode': async ({ parameters, inAccount }) => {
    const mode = oneOf(parameters, 'setMarginMode', ['ISOLATED_MARGIN', 'REGULAR_MARGIN']);
    const marginMode = mode === 'ISOLATED_MARGIN' ? 'isolated' : 'crossed';
    await inAccount(async (session) => changeMarginMode(session, marginMode));
    return { reasons: [] };
  },

  'POST /v5/position/switch-mode': linear(async ({ parameters, optionalToken, inAccount }) => {
    const mode = oneOf(parameters, 'mode', ['0', '3']) === '0' ? 'one_way_mode' : 'hedge_mode';
    const token = await optionalToken();
    if (token === null && parameters.coin !== 'USDT') throw wrong('params error: symbol or coin is required');
    await inAccount(async (session) => {
      const { account } = session;
      const book = token === null ? null : session.token(token);
      const others = token === null ? [...account.tokens.values()] : [];
      const now = book?.positionMode ?? account.positionMode;
      const isSo = now === mode && others.every(({ positionMode }) => (positionMode ?? mode) === mode);
      if (isSo) throw new VenueRefusal('110025', 'Position mode is not modified');
      if (book) changePositionModeOfToken(session, book, mode);
      else changePositionMode(session, mode);
    });
    return {};
  }),

  'POST /v5/position/set-leverage': linear(async ({ parameters, token, inAccount, faults }) => {
    const name = await token();
    const leverage = Number(parameters.buyLeverage);
    if (!Number.isInteger(leverage) || leverage < 1) throw wrong('params error: buyLeverage invalid');
    if (parameters.buyLeverage !== parameters.sellLeverage) {
      throw wrong('buy leverage not equal sell leverage');
    }
    const become = struckLeverage(faults, leverage, paperContract(name, 'Bybit').maximumLeverage);
    await inAccount(async (session) => {
      const book = session.token(name);
      if (book.leverage === leverage && become === leverage)
        throw new VenueRefusal('110043', 'leverage not modified');
      if (become !== null) await changeLeverage(session, book, become);
    });
    return {};
  }),

  'GET /v5/asset/coin/query-info': async () => ({ rows: [] }),

  'GET /v5/user/query-api': async ({ books, owner, request }) => {
    const key = books.keyOf(owner.userId);
    const { mayTrade, mayWithdraw, accountMode = 'unified', expiresAt = new Date('2030-01-01') } = key;
    return {
      id: '1',
      note: '',
      apiKey: request.headers['x-bapi-api-key'] ?? '',
      readOnly: mayTrade ? 0 : 1,
      secret: '',
      permissions: {
        ContractTrade: ['Order', 'Position'],
        Spot: [],
        Wallet: mayWithdraw ? ['AccountTransfer', 'Withdraw'] : [],
        Options: [],
        Derivatives: ['DerivativesTrade'],
        CopyTrading: [],
        BlockTrade: [],
        Exchange: [],
        NFT: [],
        Affiliate: [],
        Earn: [],
      },
      ips: ['*'],
      type: 1,
      deadlineDay: 83,
      expiredAt: expiresAt.toISOString().replace(/\.\d+Z$/, 'Z'),
      createdAt: '2020-01-01T00:00:00Z',
      unified: 0,
      uta: accountMode === 'unified' ? 1 : 0,
      // A number unique to the account, as far as 48 bits go.
      userID: Number.parseInt(owner.userId.replaceAll('-', '').slice(-12), 16),
      inviterID: 0,
      vipLevel: 'No VIP',
      mktMakerLevel: '0',
      affiliateID: 0,
      rsaPublicKey: '',
      isMaster: true,
      parentUid: '0',
      kycLevel: 'LEVEL_1',
      kycRegion: '',
    };
  },
};
