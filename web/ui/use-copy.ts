import { useEffect, useRef, useState } from 'react';
import { type Toast, toastError, toastSuccess } from './toast.ts';

const COPIED_ICON_MS = 2000;

/** Copies text and shows a toast; `copied` stays true for two seconds. */
export function useCopy(done: Toast): { copied: boolean; copy: (text: string) => Promise<void> } {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async (text: string) => {
    if (!(await writeToClipboard(text))) {
      toastError({ title: 'Error', message: 'Failed to copy to clipboard' });
      return;
    }
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), COPIED_ICON_MS);
    toastSuccess(done);
  };
  return { copied, copy };
}

async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Fallback: navigator.clipboard is missing on plain http addresses other than localhost. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'visually-hidden';
  const focused = document.activeElement;
  (focused?.closest('[role="dialog"]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
