import { useMemo, useRef, useState } from 'react';
import type { UserSettings } from '#contract/settings.ts';
import type { SignalDetail } from '#contract/signals.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { lazily } from '../../ui/lazily.tsx';
import { NearScreen } from '../../ui/near-screen.tsx';
import { LoadingState } from '../../ui/states.tsx';
import { toastError } from '../../ui/toast.ts';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { useCalculate, useKnownOutcome } from './calculate.ts';
import {
  type CalculationSettings,
  changedSettings,
  isSameSettings,
  storedCalculationSettings,
} from './calculation-settings.ts';
import { usePreview } from './calculator-data.ts';
import type { CalculatorSearch } from './calculator-search.ts';
import { ChartCard } from './chart-card.tsx';
import { useOrderByHand } from './order-by-hand.ts';
import { PositionCard } from './position-card.tsx';
import { SettingsCard } from './settings-card.tsx';
import { NO_POSITION_DATA, submitState } from './submit-state.ts';

const CalculationCards = lazily(() => import('./calculation-cards.tsx'));
const OrderCard = lazily(() => import('./order-card.tsx'));
const CalculationErrorPanel = lazily(() => import('./calculation-error-panel.tsx'));
const RiskBar = lazily(() => import('./risk-bar.tsx'));
const MethodsCard = lazily(() => import('./methods-card.tsx'), <LoadingState minHeight={300} />);
const OrderDialog = lazily(() => import('./order-dialog.tsx'));

export interface WorkbenchProps {
  signal: SignalDetail;
  userId: string;
  /** API path of the user's settings. */
  settingsPath: string;
  search: CalculatorSearch;
  onSearch: (change: CalculatorSearch) => void;
  tradingDisabled: boolean;
  exchangeMode: ExchangeMode | undefined;
  stored: UserSettings;
  username: string;
}

interface EditedSettings {
  settings: CalculationSettings;
  /** The stored settings when editing began. */
  from: CalculationSettings;
}

/** The settings, their chart, the calculated position, and its order. */
export function Workbench(props: WorkbenchProps) {
  const { signal, userId, settingsPath, search, tradingDisabled, exchangeMode, stored, username } = props;
  const history = useDialogHistory();
  const [edited, setEdited] = useState<EditedSettings | null>(null);
  const [save, setSave] = useState(false);
  // Memoised because the preview waits for settings to settle, which compares by identity.
  const storedSettings = useMemo(() => storedCalculationSettings(stored), [stored]);
  const settings = edited?.settings ?? storedSettings;
  const preview = usePreview({ signalId: signal.id, userId, settings });
  const calculate = useCalculate();
  const changedElsewhere =
    edited === null || calculate.isPending || isSameSettings(edited.settings, storedSettings)
      ? []
      : changedSettings(edited.from, storedSettings);
  const outcome = useKnownOutcome(search.calculation);
  const closedResultOf = useRef<string>(undefined);
  const byHand = useOrderByHand({
    calculationId: search.calculation,
    showResult: () => {
      // A result that was seen and closed before the answer arrived does not open again.
      if (closedResultOf.current !== search.calculation) history.adjust({ dialog: 'result' });
    },
  });
  const order = byHand.order.data;
  const state = submitState({
    calculationId: search.calculation,
    outcome,
    isUnsaved: search.unsaved !== undefined,
    order,
    tradingDisabled,
    settings,
    storedSettings,
  });

  const startCalculation = () =>
    calculate.mutate(
      { signal, userId, settingsPath, settings, save, updatedAt: stored.updatedAt },
      {
        onSuccess: ({ answer }) => {
          // The calculated settings are stored now; edits made in the meantime are not.
          if (save) setEdited((now) => (now === null || now === edited ? null : { ...now, from: settings }));
          const isUnsaved = answer.success && !save && !isSameSettings(settings, storedSettings);
          history.adjust({
            calculation: answer.success ? answer.positionGeneratorLogId : undefined,
            unsaved: isUnsaved ? 'yes' : undefined,
          });
        },
        onError: () => history.adjust({ calculation: undefined, unsaved: undefined }),
      },
    );

  const openOrder = () => {
    if (state === 'not-calculated') toastError(NO_POSITION_DATA);
    else history.open({ dialog: 'order' });
  };

  const refusal = calculate.data && !calculate.data.answer.success ? calculate.data.answer : null;
  const hasProblem = search.calculation === undefined && (refusal !== null || calculate.error !== null);
  return (
    <>
      <SettingsCard
        stored={stored}
        settings={settings}
        username={username}
        calculating={calculate.isPending}
        changedElsewhere={changedElsewhere}
        save={save}
        onSave={setSave}
        onChange={(next) => setEdited({ settings: next, from: edited?.from ?? storedSettings })}
        onTakeTheirs={() => setEdited(null)}
        onKeepMine={() => setEdited({ settings, from: storedSettings })}
        onCalculate={startCalculation}
      />
      {hasProblem ? <CalculationErrorPanel refusal={refusal} error={calculate.error} /> : null}
      {order ? <OrderCard order={order} onOpen={openOrder} /> : null}
      <PositionCard
        outcome={outcome}
        isForgotten={search.calculation !== undefined && outcome === undefined}
        submitState={state}
        exchange={stored.exchangePlatform}
        exchangeMode={exchangeMode}
        onSubmitOrder={openOrder}
      />
      <NearScreen minHeight={400}>
        <ChartCard signalId={signal.id} chosen={preview.data?.chosen} />
      </NearScreen>
      <NearScreen>
        <MethodsCard preview={preview} chosenMethod={settings.positionSizingMethod} />
      </NearScreen>
      {outcome?.answer.success ? <CalculationCards calculation={outcome.answer} /> : null}
      {outcome?.answer.success ? <RiskBar position={outcome.answer.position} /> : null}
      {search.calculation && (search.dialog === 'order' || search.dialog === 'result') ? (
        <OrderDialog
          positionGeneratorLogId={search.calculation}
          dialog={search.dialog}
          byHand={byHand}
          username={username}
          submitState={state}
          exchangeMode={exchangeMode}
          calculatedMethod={outcome?.answer.success ? outcome.answer.position.method : undefined}
          onClose={() => {
            if (order?.done) closedResultOf.current = search.calculation;
            history.close(() => props.onSearch({ dialog: undefined }));
          }}
        />
      ) : null}
    </>
  );
}
