import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './dialog.module.css';
import { useReturnFocus } from './use-return-focus.ts';

interface DialogProps {
  opened: boolean;
  onClose: () => void;
  title: ReactNode;
  size?: 'sm' | 'md' | 'lg' | 'xl' | number;
  children: ReactNode;
}

/** Composed from Modal's parts: its header would be a second banner landmark, and its close button has no name. */
export function Dialog({ opened, onClose, title, size = 'md', children }: DialogProps) {
  useReturnFocus({ enabled: opened });
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      size={size}
      yOffset="4dvh"
      classNames={{ content: classes.content ?? '' }}
      transitionProps={{ duration: 120 }}
    >
      <Modal.Overlay />
      <Modal.Content data-scroll-lock radius="md">
        <Modal.Header role="presentation" className={classes.header}>
          <Modal.Title className={classes.title}>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close dialog" />
        </Modal.Header>
        <Modal.Body className={classes.body}>{opened ? children : null}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
