import { Button, Group, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { answerLeavingWith, hasUnsavedChanges } from './unsaved-changes.ts';

export interface Place {
  pathname: string;
  search: object;
}

interface UnsavedChangesGuardProps {
  /** Whether going from one address to the other takes the forms away; defined outside of a component. */
  leaves: (from: Place, to: Place) => boolean;
}

/** Mounted once by a screen with forms: while one of them is unsaved, leaving asks first. */
export function UnsavedChangesGuard({ leaves }: UnsavedChangesGuardProps) {
  const [answerSignOut, setAnswerSignOut] = useState<((leave: boolean) => void) | null>(null);
  const blocker = useBlocker({
    shouldBlockFn: useCallback(({ current, next }) => hasUnsavedChanges() && leaves(current, next), [leaves]),
    enableBeforeUnload: hasUnsavedChanges,
    withResolver: true,
  });

  useEffect(() => answerLeavingWith(() => new Promise((resolve) => setAnswerSignOut(() => resolve))), []);

  const answer = (leave: boolean) => {
    answerSignOut?.(leave);
    setAnswerSignOut(null);
    if (leave) blocker.proceed?.();
    else blocker.reset?.();
  };
  const stay = () => answer(false);

  return (
    <Dialog
      opened={answerSignOut !== null || blocker.status === 'blocked'}
      onClose={stay}
      title="You have unsaved changes"
    >
      <Stack gap="md">
        <Text size="sm">What you have changed on this page is lost when you leave.</Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => answer(true)}>
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
