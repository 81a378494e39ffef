import { isPositive } from '#domain/decimal.ts';
import { autoTradeOff } from '#domain/eligibility/trading-mode.ts';
import { signalPriceDeviates } from '#domain/sizing/reference-price.ts';
import {
  explainFailure,
  isSignalExpired,
  isSignalTooOld,
  OLDEST_SIGNAL_DAYS,
  type PipelineStepType,
} from '#domain/workflow/workflow-lifecycle.ts';
import { findMatch } from '#server/engine/sizing/match-price-log.ts';
import { readCurrentPrices } from './current-prices.ts';
import type { AskedAhead, PipelineStep, PipelineWork, StepOutcome } from './pipeline-step.ts';
import { acquireSlot, type SlotResult } from './processing-slots.store.ts';
import { selectUsersToTrade } from './select-users.ts';
import { rememberPriceLog } from './workflow-inputs.ts';
import { listUnfinishedUsers, writeEligibility } from './workflow-users.store.ts';

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
      askAhead(work);
      let slot = { acquired: true } as SlotResult;
      journal.alongside(async (tx) => {
        slot = await acquireSlot(tx, {
          workflowId: workflow.id,
          token: workflow.token,
          at: deps.clock.now(),
        });
      });
      await journal.writeDown();
      if (!slot.acquired) return { kind: 'waiting', metadata: { waitingFor: slot.waitingFor } };
      // In the queue a signal may have grown old, and the program may have come back with automatic trading off.
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
      const log = await askAhead(work).match;
      if (log !== null) rememberPriceLog(work.deps.db, log.id);
      return {
        kind: 'completed',
        output: { priceLogId: log?.id ?? null, candleTime: log?.candleTime ?? null },
      };
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
        await deps.jobs.send(
          tx,
          'trade-user',
          userIds.map((userId) => ({ workflowId, userId })),
        );
      });
      return { kind: 'completed', output: null, staysOpen: true };
    },
  },
};

/**
 * Asks once for what needs nothing of other steps: while the token's slot is taken there is time for it. Heard of in the
 * step that it belongs to.
 */
function askAhead(work: PipelineWork): AskedAhead {
  if (work.asked === null) {
    const { deps, signal } = work;
    work.asked = { match: findMatch(deps.db, signal), prices: readCurrentPrices(deps, signal) };
    for (const answer of Object.values(work.asked)) answer.catch(() => {});
  }
  return work.asked;
}

function expired({ deps, signal, workflow }: PipelineWork): StepOutcome | null {
  if (workflow.trigger !== 'automatic') return null;
  const startsAt = deps.clock.now();
  const maxAgeMinutes = deps.config.signalMaxAgeMinutes;
  if (!isSignalExpired({ receivedAt: signal.receivedAt, startsAt, maxAgeMinutes })) return null;
  const ageMinutes = ((startsAt.getTime() - signal.receivedAt.getTime()) / 60_000).toFixed(1);
  return {
    kind: 'failed',
    failure: explainFailure('SIGNAL_EXPIRED', { ageMinutes, maxAgeMinutes: String(maxAgeMinutes) }),
  };
}

/** Whoever triggers a workflow by hand does not need automatic trading. */
function switchedOff({ deps, workflow }: PipelineWork): StepOutcome | null {
  const off = workflow.trigger === 'automatic' ? autoTradeOff(deps.config) : null;
  return off === null ? null : { kind: 'aborted', failure: explainFailure('AUTO_TRADING_DISABLED', off) };
}

/** Ingest checks the price; this guards rows of another origin. */
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

/** The price at every exchange in use: no answer leaves its users out later, a price far off stops the signal. */
async function fetchCurrentPrices(work: PipelineWork): Promise<StepOutcome> {
  const { signal } = work;
  const prices = await askAhead(work).prices;
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
