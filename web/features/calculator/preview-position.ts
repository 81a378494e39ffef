import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { PreviewAnswer } from '#contract/position-generator.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { CalculationSettings } from './calculation-settings.ts';

export const previewPath = '/api/internal/position-generator/preview';

const EDITING_PAUSE_MS = 300;

/** The position with the settings as they are edited, and the three methods side by side; nothing is saved. */
export function usePreview(request: { signalId: string; userId: string; settings: CalculationSettings }) {
  const { signalId, userId } = request;
  const [settings] = useDebouncedValue(request.settings, EDITING_PAUSE_MS);
  const body = { signalId, userId, settings };
  return useQuery({
    queryKey: [previewPath, body] as const,
    queryFn: ({ signal }) => requestJson<PreviewAnswer>(previewPath, { method: 'POST', body, signal }),
    // While settings are edited the former figures stay, but never another user's.
    placeholderData: (former, query) => (isOf(query?.queryKey[1], body) ? former : undefined),
    staleTime: 0,
  });
}

type Subject = { signalId: string; userId: string };

const isOf = (former: Subject | undefined, { signalId, userId }: Subject): boolean =>
  former?.signalId === signalId && former.userId === userId;
