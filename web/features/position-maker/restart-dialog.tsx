import { Text } from '@mantine/core';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';

interface RestartDialogProps {
  processingTasks: number;
  onConfirm: () => void;
  onClose: () => void;
}

export default function RestartDialog({ processingTasks, onConfirm, onClose }: RestartDialogProps) {
  return (
    <ConfirmDialog
      opened
      title="Restart System"
      confirmLabel="Restart System"
      destructive
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">
        Restart the position maker, on every instance? While it restarts no new order is taken up; signals
        wait.
      </Text>
      <Text size="sm">
        {processingTasks === 0
          ? 'No order is being worked on at the moment.'
          : `${processingTasks === 1 ? '1 order is' : `${processingTasks} orders are`} being worked on: none is lost, and none is placed twice.`}
      </Text>
    </ConfirmDialog>
  );
}
