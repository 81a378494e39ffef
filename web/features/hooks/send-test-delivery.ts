import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { TestDeliveryAnswer, TestDeliveryBody } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';
import { deliveriesPath, webhookPath } from './webhooks.ts';

/** Whatever becomes of it stands in the delivery log. */
export function useSendTestDelivery(hookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: TestDeliveryBody) =>
      requestJson<TestDeliveryAnswer>(`${webhookPath(hookId)}/test-deliveries`, { method: 'POST', body }),
    onSettled: () => void client.invalidateQueries({ queryKey: [deliveriesPath(hookId)] }),
  });
}
