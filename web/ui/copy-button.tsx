import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useCopy } from '../lib/use-copy.ts';

interface CopyButtonProps {
  value: string;
  /** Accessible name, e.g. 'Copy user ID'. */
  label: string;
  onCopied: () => void;
  onFailed: () => void;
}

export function CopyButton({ value, label, onCopied, onFailed }: CopyButtonProps) {
  const { copied, copy } = useCopy();
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        variant="default"
        size="md"
        aria-label={label}
        onClick={async () => ((await copy(value)) ? onCopied() : onFailed())}
      >
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
