import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { toastFailure } from './toast.ts';

/** Reports each failed fetch by a toast too. */
export function useErrorToast({ error, errorUpdatedAt }: UseQueryResult, title: string): void {
  useEffect(() => {
    if (errorUpdatedAt > 0) toastFailure(error, error?.message ?? '', title);
  }, [error, errorUpdatedAt, title]);
}
