import { lazy, Suspense, useState } from 'react';
import type { UserSettings } from '#contract/settings.ts';
import type { SignalDetail } from '#contract/signals.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { toastError } from '../../ui/toast.ts';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { errorText, failureText, useCalculate, useKnownOutcome } from './calculate.ts';
import { CalculationErrorPanel, type CalculationProblem } from './calculation-error.tsx';
import {
  type CalculationSettings,
  changedSettings,
  isSameSettings,
  storedCalculationSettings,
} from './calculation-settings.ts';
import type { CalculatorSearch } from './calculator-search.ts';
import { ChartCard } from './chart-card.tsx';
import { MethodsCard } from './methods-card.tsx';
import { OrderCard } from './order-card.tsx';
import { PositionCard } from './position-card.tsx';
import { usePreview } from './preview-position.ts';
import { SettingsCard } from './settings-card.tsx';
import { NO_POSITION_DATA, submitState } from './submit-state.ts';
import { useOrderByHand } from './use-order-by-hand.ts';

const CalculationCards = lazy(() =>
  import('./calculation-cards.tsx').then((loaded) => ({ default: loaded.CalculationCards })),
);
const OrderDialog = lazy(() => import('./order-dialog.tsx'));

export interface WorkbenchProps {
  signal: SignalDetail;
  userId: string;
  ownId: string;
  search: CalculatorSearch;
  onSearch: (change: CalculatorSearch) => void;
  tradingDisabled: boolean;
  exchangeMode: ExchangeMode | undefined;
  stored: UserSettings;
  username: string;
}

interface EditedSettings {
  settings: CalculationSettings;
  /** What was stored when the editing began. */
  from: CalculationSettings;
}

/** Settings, their picture, what was calculated with them, and its order. */
export function Workbench(props: WorkbenchProps) {
  const { signal, userId, ownId, search, onSearch, tradingDisabled, exchangeMode, stored, username } = props;
  const history = useDialogHistory();
  const [edited, setEdited] = useState<EditedSettings | null>(null);
  const storedSettings = storedCalculationSettings(stored);
  const settings = edited?.settings ?? storedSettings;
  const preview = usePreview({ signalId: signal.id, userId, settings });
  const calculate = useCalculate();
  const changedElsewhere =
    edited === null || calculate.isPending || isSameSettings(edited.settings, storedSettings)
      ? []
      : changedSettings(edited.from, storedSettings);
  const outcome = useKnownOutcome(search.calculation);
  const byHand = useOrderByHand({
    calculationId: search.calculation,
    showResult: () => history.adjust({ dialog: 'result' }),
  });
  const order = byHand.order.data;
  const state = submitState({
    calculationId: search.calculation,
    outcome,
    order,
    tradingDisabled,
    settings,
    storedSettings,
  });

  const startCalculation = () =>
    calculate.mutate(
      { signal, userId, isSelf: userId === ownId, settings, updatedAt: stored.updatedAt },
      {
        onSuccess: ({ answer }) => {
          // They are the stored ones now; what was changed meanwhile is not.
          setEdited((now) => (now === null || now === edited ? null : { ...now, from: settings }));
          history.adjust({ calculation: answer.success ? answer.positionGeneratorLogId : undefined });
        },
        onError: () => history.adjust({ calculation: undefined }),
      },
    );

  const openOrder = () => {
    if (state === 'not-calculated') toastError(NO_POSITION_DATA);
    else history.open({ dialog: 'order' });
  };

  const problem = search.calculation === undefined ? problemOf(calculate) : null;
  return (
    <>
      <SettingsCard
        stored={stored}
        settings={settings}
        username={username}
        calculating={calculate.isPending}
        changedElsewhere={changedElsewhere}
        onChange={(next) => setEdited({ settings: next, from: edited?.from ?? storedSettings })}
        onTakeTheirs={() => setEdited(null)}
        onKeepMine={() => setEdited({ settings, from: storedSettings })}
        onCalculate={startCalculation}
      />
      {problem ? <CalculationErrorPanel problem={problem} /> : null}
      {order ? <OrderCard order={order} onOpen={openOrder} /> : null}
      <PositionCard
        outcome={outcome}
        isForgotten={search.calculation !== undefined && outcome === undefined}
        submitState={state}
        exchange={stored.exchangePlatform}
        exchangeMode={exchangeMode}
        onSubmitOrder={openOrder}
      />
      <ChartCard signalId={signal.id} chosen={preview.data?.chosen} />
      <MethodsCard preview={preview} chosenMethod={settings.positionSizingMethod} />
      {outcome?.answer.success ? (
        <Suspense fallback={null}>
          <CalculationCards calculation={outcome.answer} />
        </Suspense>
      ) : null}
      {search.calculation && (search.dialog === 'order' || search.dialog === 'result') ? (
        <Suspense fallback={null}>
          <OrderDialog
            positionGeneratorLogId={search.calculation}
            dialog={search.dialog}
            order={byHand.order}
            submitting={byHand.submitting}
            failure={byHand.failure}
            submitState={state}
            exchangeMode={exchangeMode}
            calculatedMethod={outcome?.answer.success ? outcome.answer.position.method : undefined}
            onConfirm={byHand.submit}
            onClose={() => history.close(() => onSearch({ dialog: undefined }))}
          />
        </Suspense>
      ) : null}
    </>
  );
}

function problemOf({ data, error }: ReturnType<typeof useCalculate>): CalculationProblem | null {
  if (error) return { title: undefined, message: errorText(error), details: '', availableBalance: null };
  if (!data || data.answer.success) return null;
  const { error: title, details, availableBalance } = data.answer;
  return { title, message: failureText(data.answer), details, availableBalance };
}
