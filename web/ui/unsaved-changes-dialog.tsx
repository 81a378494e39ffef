import { Button, Group, Stack, Text } from '@mantine/core';
import { Dialog } from './dialog.tsx';

export interface UnsavedChangesDialogProps {
  onStay: () => void;
  onLeave: () => void;
}

export default function UnsavedChangesDialog({ onStay, onLeave }: UnsavedChangesDialogProps) {
  return (
    <Dialog opened onClose={onStay} title="You have unsaved changes">
      <Stack gap="md">
        <Text size="sm">What you have changed on this page is lost when you leave.</Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onLeave}>
            Leave
          </Button>
          <Button data-autofocus onClick={onStay}>
            Stay
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
