import { Button, Group, Stack, Text } from '@mantine/core';
import { Dialog } from '../ui/dialog.tsx';

export interface UnsavedChangesDialogProps {
  /** Says what would be lost, and by what action. */
  text: string;
  onAnswer: (leave: boolean) => void;
}

export default function UnsavedChangesDialog({ text, onAnswer }: UnsavedChangesDialogProps) {
  const stay = () => onAnswer(false);
  return (
    <Dialog opened onClose={stay} title="You have unsaved changes">
      <Stack gap="md">
        <Text size="sm">{text}</Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => onAnswer(true)}>
            Leave
          </Button>
          <Button data-autofocus onClick={stay}>
            Stay
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
