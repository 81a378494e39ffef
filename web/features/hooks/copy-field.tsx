import { TextInput } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useCopy } from '../../lib/use-copy.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { toastCopied, toastCopyFailed } from './copy-toasts.ts';
import classes from './webhook-screen.module.css';

interface CopyFieldProps {
  label: string;
  description: ReactNode;
  value: string;
  /** Asks for what is to be copied: at once when the key is visible, after the password when it is not. */
  onCopy: (copy: (text: string) => void) => void;
  extra?: ReactNode;
}

export function CopyField({ label, description, value, onCopy, extra }: CopyFieldProps) {
  const { copied, copy } = useCopy();
  const copyText = async (text: string) => {
    if (await copy(text)) toastCopied(label);
    else toastCopyFailed();
  };
  return (
    <div className={classes.copyField}>
      <TextInput
        label={label}
        description={description}
        value={value}
        readOnly
        className={classes.copyInput}
        classNames={{ input: 'mono' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      {extra}
      <IconButton
        label={`Copy ${label}`}
        tip={copied ? 'Copied' : `Copy ${label}`}
        onClick={() => onCopy((text) => void copyText(text))}
      >
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </IconButton>
    </div>
  );
}
