import { toastError, toastSuccess } from '../../ui/toast.ts';

export const toastCopied = (label: string): void =>
  toastSuccess({ title: 'Copied', message: `${label} copied to clipboard` });

export const toastCopyFailed = (): void =>
  toastError({ title: 'Error', message: 'Failed to copy to clipboard' });
