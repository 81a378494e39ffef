import { denyHalted, type TradingHalt } from '../orders/trading-halt.ts';
import { denyStopped, type TradingStop } from '../orders/trading-stop.ts';
import { matchesTimeframe } from '../timeframe.ts';
import { ANY_PROCESSOR, isSizingMethod, SIZING_METHODS, type TradingSettings } from '../user-settings.ts';
import { type Denial, type DenialCode, denialTitle, deny } from '../workflow/denials.ts';
import { matchesProcessor } from './processor.ts';
import { denyWrongMode } from './trading-mode.ts';

export interface EligibilityUser {
  id: string;
  username: string;
  isActive: boolean;
  isTestUser: boolean;
  isAdmin: boolean;
  settings: TradingSettings | null;
  /** A position without a verified stop stops the user from opening anything. */
  tradingHalt: TradingHalt | null;
  /** The stop of new entries that covers the user's entry for the signal. */
  tradingStop: TradingStop | null;
  /** Credentials are present, or the exchange is the paper exchange. */
  exchangeReady: boolean;
  /** Why the exchange is not ready, when the reason is not just missing credentials. */
  exchangeDenial?: Denial | null;
}

interface EligibilitySignal {
  processor: string;
  timeframe: string;
  ownerUserId: string;
  /** Everyone for a signal from an administrator's key, otherwise its owner only. */
  audience: 'everyone' | 'owner';
}

export interface EligibilityInput {
  signal: EligibilitySignal;
  users: readonly EligibilityUser[];
  mode: 'sandbox' | 'live';
  supportedExchanges: readonly string[];
  now: Date;
}

interface Finding {
  saw: string;
  wanted: string;
  denial: Denial | null;
}

export interface EligibilityRule {
  layer: 1 | 2 | 3;
  name: string;
  check: (user: EligibilityUser, input: EligibilityInput) => Finding;
}

/** In the order of evaluation; the first rule that denies gives the user's reason. */
export const ELIGIBILITY_RULES: readonly EligibilityRule[] = [
  { layer: 1, name: 'Signal audience', check: audience },
  { layer: 1, name: 'Active user', check: activeUser },
  { layer: 1, name: 'User settings', check: hasSettings },
  { layer: 2, name: 'Processor', check: bySettings(processor) },
  { layer: 2, name: 'Active trading', check: bySettings(activeTrading) },
  { layer: 2, name: 'Trading pause', check: bySettings(tradingPause) },
  { layer: 2, name: 'New entries', check: tradingStop },
  { layer: 2, name: 'Trading halt', check: tradingHalt },
  { layer: 2, name: 'Position sizing method', check: bySettings(sizingMethod) },
  { layer: 2, name: 'Market type', check: bySettings(marketType) },
  { layer: 2, name: 'Exchange', check: bySettings(supportedExchange) },
  { layer: 3, name: 'Environment mode', check: environmentMode },
  { layer: 3, name: 'Criterion 1: active user', check: activeUser },
  { layer: 3, name: 'Criterion 2: active trading', check: bySettings(activeTrading) },
  { layer: 3, name: 'Criterion 3: processor', check: bySettings(processor) },
  { layer: 3, name: 'Criterion 4: timeframe', check: bySettings(timeframe) },
  { layer: 3, name: 'Criterion 5: exchange ready', check: bySettings(exchangeReady) },
];

const finding = (saw: string, wanted: string, denial: Denial | null): Finding => ({ saw, wanted, denial });

function audience(user: EligibilityUser, { signal }: EligibilityInput): Finding {
  const isForAll = signal.audience === 'everyone';
  const isMeant = isForAll || signal.ownerUserId === user.id;
  const saw = isForAll ? 'a signal for everyone' : 'a signal only for its owner';
  return finding(saw, 'a signal for this user', isMeant ? null : deny('signal_of_another_user', {}));
}

function activeUser({ isActive }: EligibilityUser): Finding {
  return finding(isActive ? 'active' : 'inactive', 'active', isActive ? null : deny('user_inactive', {}));
}

function hasSettings({ settings }: EligibilityUser): Finding {
  const isMissing = settings === null;
  return finding(
    isMissing ? 'none' : 'present',
    'present',
    isMissing ? deny('settings_not_found', {}) : null,
  );
}

type SettingsCheck = (settings: TradingSettings, input: EligibilityInput, user: EligibilityUser) => Finding;

function bySettings(check: SettingsCheck): EligibilityRule['check'] {
  return (user, input) => (user.settings === null ? hasSettings(user) : check(user.settings, input, user));
}

function processor({ signalProcessor: setting }: TradingSettings, { signal }: EligibilityInput): Finding {
  const isWanted = matchesProcessor(setting, signal.processor);
  const denial = isWanted ? null : deny('processor_differs', { setting, signal: signal.processor });
  return finding(setting, `${signal.processor} or ${ANY_PROCESSOR}`, denial);
}

function activeTrading({ activeTrading: isOn }: TradingSettings): Finding {
  return finding(isOn ? 'on' : 'off', 'on', isOn ? null : deny('active_trading_off', {}));
}

function tradingPause({ tradingPausedUntil }: TradingSettings, { now }: EligibilityInput): Finding {
  const until = tradingPausedUntil?.toISOString() ?? null;
  const isPaused = tradingPausedUntil !== null && tradingPausedUntil.getTime() > now.getTime();
  const saw = until === null ? 'no pause' : `paused until ${until}`;
  const denial = isPaused ? deny('trading_paused', { until: until ?? '' }) : null;
  return finding(saw, `no pause at ${now.toISOString()}`, denial);
}

function tradingStop({ tradingStop: stop }: EligibilityUser): Finding {
  const saw = stop === null ? 'no stop' : `stopped for ${stop.covers} since ${stop.since}`;
  return finding(saw, 'no stop', stop === null ? null : denyStopped(stop));
}

function tradingHalt({ tradingHalt: halt }: EligibilityUser): Finding {
  const saw = halt === null ? 'no halt' : `halted since ${halt.since.toISOString()}`;
  return finding(saw, 'no halt', halt === null ? null : denyHalted(halt));
}

function sizingMethod({ positionSizingMethod: method }: TradingSettings): Finding {
  const denial = isSizingMethod(method) ? null : deny('sizing_method_unavailable', { method });
  return finding(method, SIZING_METHODS.join(', '), denial);
}

function marketType({ marketType: type }: TradingSettings): Finding {
  const denial = type === 'Futures' ? null : deny('market_type_unavailable', { marketType: type });
  return finding(type, 'Futures', denial);
}

function supportedExchange(
  { exchangePlatform: exchange }: TradingSettings,
  input: EligibilityInput,
): Finding {
  const { supportedExchanges, mode } = input;
  const isSupported = supportedExchanges.includes(exchange);
  const denial = isSupported ? null : deny('exchange_unsupported', { exchange, mode });
  return finding(exchange, supportedExchanges.join(', '), denial);
}

function environmentMode({ isTestUser }: EligibilityUser, { mode }: EligibilityInput): Finding {
  const wanted = mode === 'live' ? 'regular user' : 'test user';
  return finding(isTestUser ? 'test user' : 'regular user', wanted, denyWrongMode({ isTestUser, mode }));
}

function timeframe({ signalTimeframe: setting }: TradingSettings, { signal }: EligibilityInput): Finding {
  const isWanted = matchesTimeframe(setting, signal.timeframe);
  const denial = isWanted ? null : deny('timeframe_differs', { setting, signal: signal.timeframe });
  return finding(setting, `${signal.timeframe} or Any`, denial);
}

const SEEN_OF_CREDENTIALS: Partial<Record<DenialCode, string>> = {
  exchange_not_connected: 'no credentials',
  exchange_key_unreadable: 'credentials that cannot be opened',
  exchange_key_other_mode: 'credentials of another mode',
  exchange_key_rejected: 'a rejected API key',
  exchange_key_not_inspected: 'an API key of an unknown account',
  exchange_account_duplicate: 'an account of another user',
};

function exchangeReady(settings: TradingSettings, _input: EligibilityInput, user: EligibilityUser): Finding {
  const { exchangeReady: isReady, exchangeDenial } = user;
  const denial = exchangeDenial ?? deny('exchange_not_connected', { exchange: settings.exchangePlatform });
  const saw = isReady ? 'ready' : (SEEN_OF_CREDENTIALS[denial.code] ?? denialTitle(denial.code));
  return finding(saw, 'ready', isReady ? null : denial);
}
