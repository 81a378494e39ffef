import { Alert, Text } from '@mantine/core';
import { useState } from 'react';
import type { TradingHaltView } from '#contract/trading-halts.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useResumeTrading } from './get-trading-halts.ts';

interface ResumeDialogProps {
  halt: TradingHaltView;
  onClose: () => void;
}

export function ResumeDialog({ halt, onClose }: ResumeDialogProps) {
  const formatInstant = useFormatInstant();
  const resuming = useResumeTrading();
  const [failure, setFailure] = useState<string | null>(null);
  const { id, username, token } = halt;
  const confirm = () => {
    setFailure(null);
    resuming.mutate(id, {
      onSuccess: () => {
        toastSuccess({ title: 'Trading Resumed', message: `${username} trades again` });
        onClose();
      },
      onError: (error) => {
        const message = serverMessage(error, error.message);
        setFailure(message);
        toastError({ title: 'Failed to Resume Trading', message });
      },
    });
  };
  return (
    <ConfirmDialog
      opened
      title={`Resume Trading - ${username}`}
      confirmLabel="Resume Trading"
      pendingLabel="Resuming..."
      pending={resuming.isPending}
      onConfirm={confirm}
      // Closed while the answer is under way, the dialog could not tell what came of it.
      onClose={() => (resuming.isPending ? undefined : onClose())}
    >
      <Text size="sm">
        From the next signal on, orders are opened for <strong>{username}</strong> again. Look at the position
        at the exchange first.
      </Text>
      <Facts
        columns={1}
        facts={[
          ['Why', halt.reason],
          ['Since', formatInstant(halt.since)],
          ['Now', halt.clearedHow],
          ['Seen', formatInstant(halt.clearedAt)],
          ['Position', `${token}, ${halt.exchangePlatform}`],
        ]}
      />
      {failure === null ? null : (
        <Alert color="red" title="Failed to Resume Trading" role="alert">
          {failure}
        </Alert>
      )}
    </ConfirmDialog>
  );
}
