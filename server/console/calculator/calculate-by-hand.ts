import type {
  GenerateAnswer,
  GenerateBody,
  Preview,
  PreviewAnswer,
  PreviewBody,
} from '#contract/position-generator.ts';
import type { PositionResult } from '#domain/sizing/position.ts';
import { SIZING_METHODS, type TradingSettings } from '#domain/user-settings.ts';
import { type Denial, denialTitle } from '#domain/workflow/denials.ts';
import { findTradingSettings, withoutUndefined } from '#server/admin/settings/settings.store.ts';
import { describeCalculation } from '#server/console/calculator/describe-calculation.ts';
import { calculateFromFacts, recordCalculation } from '#server/engine/sizing/generate-position.ts';
import { findSignalPriceLog } from '#server/engine/sizing/match-price-log.ts';
import { findPriceLog, type PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import { type EntrySignalRow, findSignal, isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { invalidFields, required } from '#server/platform/http/errors.ts';
import { type CalculatorDeps, readCalculatorFacts } from './calculator-facts.ts';

/**
 * Calculates a position with the stored settings, or with those of the request where it names some, and records the
 * result, including refusals. Stores no settings and trades nothing.
 */
export async function generateByHand(deps: CalculatorDeps, body: GenerateBody): Promise<GenerateAnswer> {
  const { userId, currentMarketPrice } = body;
  const { signal, settings: stored } = await findSubject(deps, body);
  const settings = { ...stored, ...withoutUndefined(body.settings ?? {}) };
  const priceLog = await findOwnPriceLog(deps, signal, body.priceLogId ?? null);
  const { exchangePlatform } = settings;
  const read = await readCalculatorFacts(deps, {
    token: signal.token,
    userId,
    exchangePlatform,
    clientPrice: currentMarketPrice,
  });
  const request = { signal, priceLog, userId, settings, profile: 'manual' as const, workflowId: null };
  const result: PositionResult = read.ok ? calculateFromFacts(read.facts, request) : read;
  const { isEstimate, notices, availableBalance } = read.ok ? read.facts : NO_FACTS;
  const { id: positionGeneratorLogId } = await recordCalculation(deps, { ...request, result, isEstimate });
  if (!result.ok) {
    const realBalance = isEstimate ? null : (availableBalance ?? null);
    return {
      success: false,
      positionGeneratorLogId,
      ...refusalOf(result.denial, notices),
      availableBalance: realBalance,
    };
  }
  return {
    success: true,
    ...describeCalculation(result.position, { config: deps.config, exchangePlatform }),
    positionGeneratorLogId,
    isEstimate,
    message: ['Position calculated', ...notices].join('. '),
  };
}

const NO_FACTS = { isEstimate: false, notices: [], availableBalance: null };

/** The same calculation with the edited settings and with each of the three methods. Saves nothing. */
export async function previewPosition(deps: CalculatorDeps, body: PreviewBody): Promise<PreviewAnswer> {
  const { signal, settings } = await findSubject(deps, body);
  const priceLog = await findSignalPriceLog(deps.db, signal);
  const { exchangePlatform } = settings;
  const read = await readCalculatorFacts(deps, {
    token: signal.token,
    userId: body.userId,
    exchangePlatform,
  });
  const { isEstimate, notices } = read.ok ? read.facts : NO_FACTS;
  const edited = { ...settings, ...withoutUndefined(body.settings) };
  function previewOf(changed: TradingSettings): Preview {
    const request = { signal, priceLog, settings: changed, profile: 'manual' as const };
    const result: PositionResult = read.ok ? calculateFromFacts(read.facts, request) : read;
    if (!result.ok) {
      const { message, details } = refusalOf(result.denial, notices);
      return { success: false, error: message, details };
    }
    const described = describeCalculation(result.position, { config: deps.config, exchangePlatform });
    return { success: true, ...described };
  }
  return {
    chosen: previewOf(edited),
    methods: SIZING_METHODS.map((method) => ({
      method,
      result: previewOf({ ...edited, positionSizingMethod: method }),
    })),
    isEstimate,
  };
}

async function findSubject(
  { db }: CalculatorDeps,
  { signalId, userId }: { signalId: string; userId: string },
): Promise<{ signal: EntrySignalRow; settings: TradingSettings }> {
  const signal = required(await findSignal(db, signalId), 'signalNotFound');
  if (!isEntry(signal)) {
    const message = `A ${signal.action} signal opens no position; choose a buy or sell signal`;
    throw invalidFields([{ path: 'signalId', message }]);
  }
  return {
    signal,
    settings: required(await findTradingSettings(db, userId), 'settingsNotFound'),
  };
}

/** The requested price log, if it may belong to the signal; by default the one it was decided with. */
async function findOwnPriceLog(
  { db }: CalculatorDeps,
  signal: SignalRow,
  priceLogId: string | null,
): Promise<PriceLogRow | null> {
  if (priceLogId === null) return await findSignalPriceLog(db, signal);
  const priceLog = required(await findPriceLog(db, priceLogId), 'priceLogNotFound');
  const refuse = (message: string) => invalidFields([{ path: 'priceLogId', message }]);
  if (priceLog.token !== signal.token) {
    throw refuse(`The price log is of ${priceLog.token}, the signal of ${signal.token}`);
  }
  if (priceLog.hookId !== signal.hookId && !priceLog.fromAdmin) {
    throw refuse('The price log belongs to another webhook than the signal');
  }
  return priceLog;
}

function refusalOf(denial: Denial, notices: string[]) {
  const figures = Object.entries(denial.context).map(([name, value]) => `${name}: ${value}`);
  return {
    error: denialTitle(denial.code),
    message: denial.reason,
    details: [denial.reason, ...notices, ...(figures.length > 0 ? [figures.join(', ')] : [])].join('. '),
  };
}
