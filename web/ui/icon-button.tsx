import { ActionIcon } from '@mantine/core';
import type { ReactNode } from 'react';

interface IconButtonProps {
  /** Accessible name and tooltip. */
  label: string;
  tip?: string;
  size?: number;
  onClick: () => void;
  children: ReactNode;
}

export function IconButton({ label, tip = label, size = 36, onClick, children }: IconButtonProps) {
  return (
    <ActionIcon variant="default" size={size} aria-label={label} data-tip={tip} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}
