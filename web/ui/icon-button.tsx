import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Toast } from './toast.ts';
import { useCopy } from './use-copy.ts';

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

interface CopyButtonProps {
  value: string;
  /** Accessible name, e.g. 'Copy user ID'. */
  label: string;
  done: Toast;
}

export function CopyButton({ value, label, done }: CopyButtonProps) {
  const { copied, copy } = useCopy(done);
  return (
    <IconButton label={label} tip={copied ? 'Copied' : label} size={28} onClick={() => void copy(value)}>
      <CopyIcon copied={copied} />
    </IconButton>
  );
}

export function CopyIcon({ copied }: { copied: boolean }) {
  const Icon = copied ? IconCheck : IconCopy;
  return <Icon size={16} aria-hidden />;
}
