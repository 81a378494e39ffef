import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useCopy } from '../lib/use-copy.ts';
import { IconButton } from './icon-button.tsx';

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
    <IconButton
      label={label}
      tip={copied ? 'Copied' : label}
      size={28}
      onClick={async () => ((await copy(value)) ? onCopied() : onFailed())}
    >
      {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
    </IconButton>
  );
}
