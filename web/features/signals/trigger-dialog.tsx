import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { PriceLogsAnswer } from '#contract/price-logs.ts';
import type { Signal } from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { capitalise, plainCount } from '../../lib/format.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { signalsPath, useEligibility } from './signals-data.ts';

interface TriggerDialogProps {
  signal: Signal;
  onClose: () => void;
}

/** Says for how many users a signal runs again, and how far the price has moved since. */
export default function TriggerDialog({ signal, onClose }: TriggerDialogProps) {
  const { id, token, action } = signal;
  return (
    <ConfirmChange
      title="Trigger Workflow"
      confirmLabel="Trigger"
      pendingLabel="Triggering..."
      send={() =>
        requestJson<{ workflowId: string }>('/api/trigger-automation', {
          method: 'POST',
          body: { signalId: id },
        })
      }
      done={({ workflowId }) => ({
        title: 'Workflow Triggered Successfully',
        message: `Workflow ${workflowId}`,
      })}
      failed={{ title: 'Failed to Trigger Workflow', otherwise: 'Failed to trigger automation workflow' }}
      refresh={['/api/automation-workflows', signalsPath]}
      onClose={onClose}
    >
      <Text size="sm">
        Runs{' '}
        <strong>
          {token} {capitalise(action)}
        </strong>{' '}
        again for <Users signalId={id} />. Users who have an order of this signal already are skipped.
      </Text>
      <PriceMove signal={signal} />
    </ConfirmChange>
  );
}

function Users({ signalId }: { signalId: string }) {
  const { data, isError } = useEligibility(signalId);
  const count = data?.finalEligibleUsers;
  // A count from before may be wrong by now.
  if (count === undefined || isError) return 'the users who are eligible now';
  if (count === 0) return <strong>nobody: no user is eligible now</strong>;
  return <strong>{count === 1 ? '1 user' : `${plainCount(count)} users`}</strong>;
}

/** By the newest candle in the token; nothing without one. */
function PriceMove({ signal: { token, price } }: { signal: Signal }) {
  const { data, isError } = useQuery<PriceLogsAnswer>({
    queryKey: ['/api/price-logs', { token, limit: '1' }],
    staleTime: 0,
  });
  const newest = data?.priceLogs[0]?.price;
  if (newest === undefined || isError) return null;
  const moved = (Number(newest) / Number(price) - 1) * 100;
  if (!Number.isFinite(moved)) return null;
  const distance = `${Math.abs(moved).toFixed(1)} %`;
  const direction = moved < 0 ? 'below' : 'above';
  return (
    <Text size="sm">
      The newest candle of {token} closed at {formatReceivedPrice(newest)}, {distance} {direction} the
      signal's price of {formatReceivedPrice(price)}.
    </Text>
  );
}
