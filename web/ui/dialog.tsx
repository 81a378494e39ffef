import { Button, Group, Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import classes from './dialog.module.css';

interface DialogProps {
  opened: boolean;
  onClose: () => void;
  title: ReactNode;
  size?: 'sm' | 'md' | 'lg' | 'xl' | number;
  /** Lies above other dialogs, whichever was opened last. */
  above?: boolean;
  /** Only its own buttons close it. */
  mustAnswer?: boolean;
  children: ReactNode;
}

const ABOVE_DIALOGS = 250;

/** Composed from Modal's parts, because Modal's header is a second banner landmark and its close button has no name. */
export function Dialog(props: DialogProps) {
  const { opened, onClose, title, size = 'md', above = false, mustAnswer = false, children } = props;
  useReturnFocus({ enabled: opened });
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      size={size}
      yOffset="4dvh"
      closeOnEscape={!mustAnswer}
      closeOnClickOutside={!mustAnswer}
      {...(above ? { zIndex: ABOVE_DIALOGS } : {})}
      classNames={{ content: classes.content ?? '' }}
      transitionProps={{ duration: 120 }}
    >
      <Modal.Overlay />
      <Modal.Content data-scroll-lock radius="md">
        <Modal.Header role="presentation" className={classes.header}>
          <Modal.Title className={classes.title}>{title}</Modal.Title>
          {mustAnswer ? null : <Modal.CloseButton aria-label="Close dialog" />}
        </Modal.Header>
        <Modal.Body className={classes.body}>{opened ? children : null}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

interface DialogButtonsProps {
  label: string;
  pendingLabel?: string | undefined;
  pending: boolean;
  disabled?: boolean;
  destructive?: boolean;
  onCancel: () => void;
  /** If omitted, the button submits its form. */
  onConfirm?: () => void;
}

export function DialogButtons(props: DialogButtonsProps) {
  const { label, pendingLabel = label, pending, disabled = false, destructive = false } = props;
  const { onCancel, onConfirm } = props;
  return (
    <Group justify="flex-end" gap="sm">
      <Button variant="default" onClick={onCancel} disabled={pending}>
        Cancel
      </Button>
      <Button
        {...(destructive ? { color: 'red' } : {})}
        {...(onConfirm ? { onClick: onConfirm } : { type: 'submit' })}
        disabled={pending || disabled}
      >
        {pending ? pendingLabel : label}
      </Button>
    </Group>
  );
}

/**
 * Returns the focus to its previous place, for a dialog that is mounted open and unmounted to close. Modal does so only
 * when it stays mounted.
 */
export function useReturnFocus({ enabled }: { enabled: boolean }): void {
  // Read during render, before the dialog moves the focus into itself.
  const [from] = useState(() => (enabled ? document.activeElement : null));
  useEffect(
    () => () => {
      // Skip this if the focus has already moved, for example to another page.
      if (!(from instanceof HTMLElement) || document.activeElement !== document.body) return;
      from.focus({ preventScroll: true });
    },
    [from],
  );
}
