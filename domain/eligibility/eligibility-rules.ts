import { denyHalted, type TradingHalt } from '../orders/trading-halt.ts';
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
  /** A position without a verified stop keeps the user from opening anything. */
  tradingHalt: TradingHalt | null;
  /** Credentials are present, or the exchange is the paper exchange. */
  exchangeReady: boolean;
  /** Why the exchange is not ready, where there is more to say than that no credentials are there. */
  exchangeDenial?: Denial | null;
}

interface EligibilitySignal {
  processor: string;
  timeframe: string;
  ownerUserId: string;
  /** Everyone for a signal from an administrator's key, the owner alone otherwise. */
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

/** In the order in which they are asked; the first that denies is the user's reason. */
export const ELIGIBILITY_RULES: readonly EligibilityRule[] = [
  { layer: 1, name: 'Signal audience', check: audience },
  { layer: 1, name: 'Active user', check: activeUser },
  { layer: 1, name: 'User settings', check: hasSettings },
  { layer: 2, name: 'Processor', check: bySettings(processor) },
  { layer: 2, name: 'Active trading', check: bySettings(activeTrading) },
  { layer: 2, name: 'Trading pause', check: bySettings(tradingPause) },
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

function audience(user: EligibilityUser, { signal }: EligibilityInput): Finding {
  const isMeant = signal.audience === 'everyone' || signal.ownerUserId === user.id;
  return {
    saw: signal.audience === 'everyone' ? 'a signal for everyone' : 'a signal for its owner alone',
    wanted: 'a signal for this user',
    denial: isMeant ? null : deny('signal_of_another_user', {}),
  };
}

function activeUser(user: EligibilityUser): Finding {
  return {
    saw: user.isActive ? 'active' : 'inactive',
    wanted: 'active',
    denial: user.isActive ? null : deny('user_inactive', {}),
  };
}

function hasSettings(user: EligibilityUser): Finding {
  return {
    saw: user.settings === null ? 'none' : 'present',
    wanted: 'present',
    denial: user.settings === null ? deny('settings_not_found', {}) : null,
  };
}

type SettingsCheck = (settings: TradingSettings, input: EligibilityInput, user: EligibilityUser) => Finding;

function bySettings(check: SettingsCheck): EligibilityRule['check'] {
  return (user, input) => (user.settings === null ? hasSettings(user) : check(user.settings, input, user));
}

function processor(settings: TradingSettings, { signal }: EligibilityInput): Finding {
  return {
    saw: settings.signalProcessor,
    wanted: `${signal.processor} or ${ANY_PROCESSOR}`,
    denial: matchesProcessor(settings.signalProcessor, signal.processor)
      ? null
      : deny('processor_differs', { setting: settings.signalProcessor, signal: signal.processor }),
  };
}

function activeTrading(settings: TradingSettings): Finding {
  return {
    saw: settings.activeTrading ? 'on' : 'off',
    wanted: 'on',
    denial: settings.activeTrading ? null : deny('active_trading_off', {}),
  };
}

function tradingPause({ tradingPausedUntil }: TradingSettings, { now }: EligibilityInput): Finding {
  const until = tradingPausedUntil?.toISOString() ?? null;
  const isPaused = tradingPausedUntil !== null && tradingPausedUntil.getTime() > now.getTime();
  return {
    saw: until === null ? 'no pause' : `paused until ${until}`,
    wanted: `no pause at ${now.toISOString()}`,
    denial: isPaused ? deny('trading_paused', { until: until ?? '' }) : null,
  };
}

function tradingHalt({ tradingHalt: halt }: EligibilityUser): Finding {
  return {
    saw: halt === null ? 'no halt' : `halted since ${halt.since.toISOString()}`,
    wanted: 'no halt',
    denial: halt === null ? null : denyHalted(halt),
  };
}

function sizingMethod({ positionSizingMethod: method }: TradingSettings): Finding {
  return {
    saw: method,
    wanted: SIZING_METHODS.join(', '),
    denial: isSizingMethod(method) ? null : deny('sizing_method_unavailable', { method }),
  };
}

function marketType(settings: TradingSettings): Finding {
  return {
    saw: settings.marketType,
    wanted: 'Futures',
    denial:
      settings.marketType === 'Futures'
        ? null
        : deny('market_type_unavailable', { marketType: settings.marketType }),
  };
}

function supportedExchange(
  { exchangePlatform: exchange }: TradingSettings,
  input: EligibilityInput,
): Finding {
  return {
    saw: exchange,
    wanted: input.supportedExchanges.join(', '),
    denial: input.supportedExchanges.includes(exchange)
      ? null
      : deny('exchange_unsupported', { exchange, mode: input.mode }),
  };
}

function environmentMode(user: EligibilityUser, { mode }: EligibilityInput): Finding {
  return {
    saw: user.isTestUser ? 'test user' : 'regular user',
    wanted: mode === 'live' ? 'regular user' : 'test user',
    denial: denyWrongMode({ isTestUser: user.isTestUser, mode }),
  };
}

function timeframe({ signalTimeframe }: TradingSettings, { signal }: EligibilityInput): Finding {
  return {
    saw: signalTimeframe,
    wanted: `${signal.timeframe} or Any`,
    denial: matchesTimeframe(signalTimeframe, signal.timeframe)
      ? null
      : deny('timeframe_differs', { setting: signalTimeframe, signal: signal.timeframe }),
  };
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
  return {
    saw: isReady ? 'ready' : (SEEN_OF_CREDENTIALS[denial.code] ?? denialTitle(denial.code)),
    wanted: 'ready',
    denial: isReady ? null : denial,
  };
}
