import { ActionIcon, Stack, Text, TextInput } from '@mantine/core';
import { IconMinus, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { MoveProtectionAnswer, OpenPositionView, ProtectionRules } from '#contract/positions.ts';
import { FormEnd } from '#web/forms/form-end.tsx';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { formatFullPrice, formatProfit, formatQuantity } from '../../lib/figures.ts';
import { capitalise, formatLeverage } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useChange } from '../../ui/use-change.ts';
import {
  changedPrices,
  effectOf,
  growsRisk,
  type ProtectionSide,
  priceProblem,
  stepPrice,
} from './move-protection-model.ts';
import classes from './positions.module.css';
import { positionsPath } from './positions-data.ts';

const protectionPath = `${positionsPath}/protection`;
const FIELDS: [side: ProtectionSide, label: string][] = [
  ['stopLoss', 'Stop Loss'],
  ['takeProfit', 'Take Profit'],
];

interface MoveProtectionDialogProps {
  /** The position when the button was pressed. */
  position: OpenPositionView;
  /** The position now; undefined once it is closed. */
  current: OpenPositionView | undefined;
  onClose: () => void;
}

export default function MoveProtectionDialog({ position, current, onClose }: MoveProtectionDialogProps) {
  const { userId, username, token } = position;
  const now = current ?? position;
  const [typed, setTyped] = useState({
    stopLoss: position.stopLoss ?? '',
    takeProfit: position.takeProfit ?? '',
  });
  const [isAsked, setAsked] = useState(false);
  const rules = useQuery<ProtectionRules>({ queryKey: [protectionPath, { userId, token }] });
  const tick = rules.data?.tickSize ?? null;
  const changed = changedPrices(typed, position);

  const move = useChange({
    send: async () => {
      const body = { userId, token, ...changed };
      const answer = await requestJson<MoveProtectionAnswer>(protectionPath, { method: 'PUT', body });
      if (!answer.success) throw new Error(answer.message);
      return answer;
    },
    done: ({ message }) => ({ title: 'Stop and Target Moved', message }),
    failed: { title: 'Move Not Confirmed' },
    // After a failure one of two may still have been moved.
    refresh: [positionsPath],
  });
  const unsaved = Object.keys(changed).length > 0;
  const dialog = useFormDialog({ unsaved, pending: move.isPending, onClose });
  const refused = move.error instanceof ApiError ? (move.error.body?.errors ?? []) : [];

  /** An untouched field is not judged: the price may have passed a target that stays. */
  function problemOf(side: ProtectionSide): string | null {
    if (changed[side] === undefined && typed[side] === (position[side] ?? '')) return null;
    const problem = priceProblem(typed[side], { side, position: now, tick });
    return problem ?? refused.find(({ path }) => path === side)?.message ?? null;
  }
  const problems = FIELDS.map(([side]) => problemOf(side));

  const set = (side: ProtectionSide, price: string) => {
    setTyped({ ...typed, [side]: price });
    if (move.isError) move.reset();
  };

  return (
    <Dialog opened onClose={dialog.close} title={`Move Stop and Target - ${token}`}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(true);
          if (unsaved && problems.every((problem) => problem === null)) {
            move.mutate(undefined, { onSuccess: dialog.done });
          }
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            {capitalise(now.side)} {formatLeverage(now.leverage)}, {formatQuantity(now.quantity)} {token} of{' '}
            <strong>{username}</strong>. A full stop stays in place at every moment.
          </Text>
          <Facts
            columns={2}
            facts={[
              ['Entry Price', formatFullPrice(now.entryPrice)],
              ['Mark Price', formatFullPrice(now.markPrice)],
            ]}
          />
          {FIELDS.map(([side, label], index) => (
            <PriceField
              key={side}
              label={label}
              value={typed[side]}
              tick={tick}
              autoFocus={index === 0}
              error={problems[index] ?? null}
              effect={effectText(typed[side], now)}
              onChange={(price) => set(side, price)}
            />
          ))}
          {growsRisk(typed.stopLoss, now) ? (
            <Notice look="warning" title="More risk">
              This stop loses more than the present one at {formatFullPrice(now.stopLoss)}, so the move needs
              your confirmation with password or second factor.
            </Notice>
          ) : null}
          {current === undefined ? (
            <Notice look="warning" title="No longer open">
              The exchange reports this position no more. These are its last figures.
            </Notice>
          ) : null}
          {isAsked && !unsaved ? (
            <Text size="sm" role="status">
              Nothing is changed yet: enter another stop or target.
            </Text>
          ) : null}
          <FormEnd
            error={refused.length === 0 ? move.error : null}
            errorTitle="Move Not Confirmed"
            fallback={move.error?.message ?? ''}
            label="Move"
            pendingLabel="Moving..."
            pending={move.isPending}
            onCancel={dialog.close}
          />
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}

function effectText(text: string, position: OpenPositionView): string {
  const effect = effectOf(text, position);
  if (effect === null) return 'None';
  const { percent, profit } = effect;
  const away =
    percent === null ? '' : `${Math.abs(percent).toFixed(2)} % ${percent < 0 ? 'below' : 'above'} the mark, `;
  return `${away}closes at ${formatProfit(profit)} before fees`;
}

interface PriceFieldProps {
  label: string;
  value: string;
  /** Null while it is not known: then there are no steps. */
  tick: string | null;
  autoFocus: boolean;
  error: string | null;
  effect: string;
  onChange: (price: string) => void;
}

/** A price with steps of one tick: the buttons, and the arrow keys. */
function PriceField({ label, value, tick, autoFocus, error, effect, onChange }: PriceFieldProps) {
  const step = (direction: 1 | -1) => tick !== null && onChange(stepPrice(value, tick, direction));
  const button = (direction: 1 | -1) => (
    <ActionIcon
      variant="default"
      size={30}
      disabled={tick === null}
      aria-label={`${label}: one tick ${direction === 1 ? 'up' : 'down'}`}
      onClick={() => step(direction)}
    >
      {direction === 1 ? <IconPlus size={14} /> : <IconMinus size={14} />}
    </ActionIcon>
  );
  return (
    <TextInput
      label={label}
      description={effect}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      inputMode="decimal"
      autoComplete="off"
      data-autofocus={autoFocus || undefined}
      value={value}
      error={error}
      rightSection={
        <span className={classes.steps}>
          {button(-1)}
          {button(1)}
        </span>
      }
      rightSectionWidth={68}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        step(event.key === 'ArrowUp' ? 1 : -1);
      }}
    />
  );
}
