import { isPositive } from '#domain/decimal.ts';
import { autoTradeOff } from '#domain/eligibility/trading-mode.ts';
import type { PriceLogCandidate } from '#domain/sizing/price-log-match.ts';
import { signalPriceDeviates } from '#domain/sizing/reference-price.ts';
import {
  explainFailure,
  type FailureExplanation,
  isSignalExpired,
  isSignalTooOld,
  OLDEST_SIGNAL_DAYS,
  type PipelineStepType,
} from '#domain/workflow/workflow-lifecycle.ts';
import { findMatch } from '#server/engine/sizing/match-price-log.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { type CurrentPrice, readCurrentPrices } from './current-prices.ts';
import { acquireSlot, type SlotResult } from './processing-slots.store.ts';
import { selectUsersToTrade } from './select-users.ts';
import type { StepJournal } from './step-journal.ts';
import { rememberPriceLog } from './workflow-inputs.ts';
import { listUnfinishedUsers, writeEligibility } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

export interface PipelineWork {
  deps: AutomationDeps;
  journal: StepJournal;
  workflow: WorkflowRow & { startedAt: Date };
  signal: SignalRow;
  /** Outputs of the earlier steps by step number; read from their rows after a restart. */
  outputs: Map<number, unknown>;
  /** Inputs of later steps that depend on the signal only, once a read has started. */
  prefetched: Prefetched | null;
  /** The eligible users in the order of trading, if this run selected them; no job was sent for them yet. */
  selected: readonly string[] | null;
}

interface Prefetched {
  match: Promise<PriceLogCandidate | null>;
  prices: Promise<CurrentPrice[]>;
}

export type StepOutcome =
  /** `staysOpen`: the users' part that the step started ends it. */
  | { kind: 'completed'; output: unknown; staysOpen?: true }
  | { kind: 'failed' | 'aborted'; failure: FailureExplanation }
  /** Nothing to do: completes the workflow. */
  | { kind: 'skipped'; output: unknown }
  /** The end of another workflow wakes this one again. */
  | { kind: 'waiting'; metadata: unknown };

interface PipelineStep {
  input: (work: PipelineWork) => unknown;
  /** Waits for others, so it is first written as in progress. */
  takesAWhile?: true;
  run: (work: PipelineWork) => Promise<StepOutcome>;
}

/** The steps of a workflow, one small function each. */
export const PIPELINE: Record<PipelineStepType, PipelineStep> = {
  signal_validation: {
    input: ({ signal, workflow }) => ({
      signalId: signal.id,
      token: signal.token,
      action: signal.action,
      price: signal.price,
      timeframe: signal.timeframe,
      processor: signal.processor,
      receivedAt: signal.receivedAt,
      trigger: workflow.trigger,
    }),
    run: async (work) => expired(work) ?? invalid(work) ?? { kind: 'completed', output: { valid: true } },
  },

  environment_check: {
    input: ({ deps: { config } }) => ({
      environment: config.appEnv,
      autoTrade: config.autoTrade.enabled ? 'enabled' : 'disabled',
      exchangeMode: config.exchangeMode,
    }),
    run: async (work) => {
      const automaticTrading = autoTradeOff(work.deps.config) === null;
      const { trigger } = work.workflow;
      return switchedOff(work) ?? { kind: 'completed', output: { automaticTrading, trigger } };
    },
  },

  processing_slot: {
    input: ({ workflow }) => ({ token: workflow.token }),
    run: async (work) => {
      const { deps, workflow, journal } = work;
      prefetch(work);
      let slot = { acquired: true } as SlotResult;
      journal.alongside(async (tx) => {
        const { id: workflowId, token } = workflow;
        slot = await acquireSlot(tx, { workflowId, token, at: deps.clock.now() });
      });
      await journal.writeDown();
      if (!slot.acquired) return { kind: 'waiting', metadata: { waitingFor: slot.waitingFor } };
      // During the wait the signal may have expired, or a restart may have turned automatic trading off.
      return expired(work) ?? switchedOff(work) ?? { kind: 'completed', output: { token: workflow.token } };
    },
  },

  price_log_match: {
    input: ({ signal }) => ({
      token: signal.token,
      timeframe: signal.timeframe,
      processor: signal.processor,
      signalTime: signal.signalTimeServer ?? signal.receivedAt,
    }),
    run: async (work) => {
      const log = await prefetch(work).match;
      if (log !== null) rememberPriceLog(work.deps.db, log.id);
      const output = { priceLogId: log?.id ?? null, candleTime: log?.candleTime ?? null };
      return { kind: 'completed', output };
    },
  },

  current_price: {
    input: ({ signal }) => ({ token: signal.token, signalPrice: signal.price }),
    takesAWhile: true,
    run: fetchCurrentPrices,
  },

  user_selection: {
    input: ({ signal }) => ({ processor: signal.processor, timeframe: signal.timeframe }),
    run: async (work) => {
      const { deps, signal, workflow, journal } = work;
      const result = await selectUsersToTrade(deps, signal);
      work.selected = result.eligible.map(({ id }) => id);
      const [layer1, layer2, layer3, layer4] = result.layers;
      journal.alongside((tx) => writeEligibility(tx, workflow.id, result));
      return {
        kind: 'completed',
        output: {
          currentMode: result.currentMode,
          breakdown: { layer1, layer2, layer3, layer4 },
          eligibleUsers: result.eligible,
        },
      };
    },
  },

  user_processing: {
    input: ({ outputs }) => ({ users: eligibleCount(outputs) }),
    run: async ({ deps, workflow, outputs, journal, selected }) => {
      if (eligibleCount(outputs) === 0) return { kind: 'skipped', output: { reason: 'No eligible users' } };
      const { id: workflowId } = workflow;
      journal.alongside(async (tx) => {
        const userIds = selected ?? (await listUnfinishedUsers(tx, workflowId));
        const tasks = userIds.map((userId) => ({ workflowId, userId }));
        await deps.jobs.send(tx, 'trade-user', tasks);
      });
      return { kind: 'completed', output: null, staysOpen: true };
    },
  },
};

/** Starts the reads that need no other step while the token's slot is taken. Their own step reports a failure. */
function prefetch(work: PipelineWork): Prefetched {
  if (work.prefetched === null) {
    const { deps, signal } = work;
    work.prefetched = { match: findMatch(deps.db, signal), prices: readCurrentPrices(deps, signal) };
    for (const answer of Object.values(work.prefetched)) answer.catch(() => {});
  }
  return work.prefetched;
}

function expired({ deps, signal, workflow }: PipelineWork): StepOutcome | null {
  if (workflow.trigger !== 'automatic') return null;
  const startsAt = deps.clock.now();
  const maxAgeMinutes = deps.config.signalMaxAgeMinutes;
  if (!isSignalExpired({ receivedAt: signal.receivedAt, startsAt, maxAgeMinutes })) return null;
  const ageMinutes = ((startsAt.getTime() - signal.receivedAt.getTime()) / 60_000).toFixed(1);
  const context = { ageMinutes, maxAgeMinutes: String(maxAgeMinutes) };
  return { kind: 'failed', failure: explainFailure('SIGNAL_EXPIRED', context) };
}

/** A manually triggered workflow does not need automatic trading. */
function switchedOff({ deps, workflow }: PipelineWork): StepOutcome | null {
  const off = workflow.trigger === 'automatic' ? autoTradeOff(deps.config) : null;
  return off === null ? null : { kind: 'aborted', failure: explainFailure('AUTO_TRADING_DISABLED', off) };
}

/** Ingest checks the price; this guards against rows of another origin. */
function invalid({ signal, workflow }: PipelineWork): StepOutcome | null {
  const detail = isPositive(signal.price)
    ? workflow.trigger === 'automatic' && mayRepeatForgotten(signal)
    : `the price ${signal.price} is not above zero`;
  if (detail === false) return null;
  return { kind: 'failed', failure: explainFailure('SIGNAL_INVALID', { detail }) };
}

function mayRepeatForgotten({ signalTimeServer: time, receivedAt }: PipelineWork['signal']): string | false {
  if (!isSignalTooOld({ time, receivedAt })) return false;
  return `its own time is more than ${OLDEST_SIGNAL_DAYS} days old, so it may be one that was traded before`;
}

/** Reads the price at every exchange in use. Only a price that is far off at all of them stops the signal. */
async function fetchCurrentPrices(work: PipelineWork): Promise<StepOutcome> {
  const { signal } = work;
  const prices = await prefetch(work).prices;
  const deviations = prices.flatMap(({ price }) =>
    price === null ? [] : [signalPriceDeviates({ signalPrice: signal.price, livePrice: price })],
  );
  const [first] = deviations;
  if (first != null && deviations.every((one) => one !== null)) {
    const detail = first.reason.replace(/^Signal validation failed: /, '');
    return { kind: 'failed', failure: explainFailure('SIGNAL_INVALID', { detail }) };
  }
  return { kind: 'completed', output: { signalPrice: signal.price, prices } };
}

function eligibleCount(outputs: Map<number, unknown>): number {
  const selected = outputs.get(6) as { eligibleUsers?: unknown[] } | undefined;
  return selected?.eligibleUsers?.length ?? 0;
}
