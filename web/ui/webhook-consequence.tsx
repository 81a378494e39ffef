import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AdminHook, AdminHooksAnswer } from '#contract/hooks.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { adminHooksPath, whomItFeeds } from '../lib/webhook-of-user.ts';

interface WebhookConsequenceProps {
  userId: string;
  /** The user's status after the change. */
  active: boolean;
}

/** Describes how changing a user's status affects the user's webhook. */
export function WebhookConsequence({ userId, active }: WebhookConsequenceProps) {
  const webhook = useQuery<AdminHooksAnswer, Error, AdminHook | null>({
    queryKey: [adminHooksPath, { userId, page: 1, limit: 1 }],
    // A user has at most one webhook.
    select: ({ hooks }) => hooks[0] ?? null,
    staleTime: 0,
  });
  const formatInstant = useFormatInstant();
  return (
    <Text size="sm" aria-live="polite">
      {webhook.isPending ? 'Looking up the webhook of this user...' : null}
      {webhook.isError ? 'The webhook of this user could not be looked up.' : null}
      {webhook.data === null ? 'This user has no webhook.' : null}
      {webhook.data ? `${effectOn(webhook.data, active)} ${lastDelivery(webhook.data, formatInstant)}` : null}
    </Text>
  );
}

function effectOn(hook: AdminHook, active: boolean): string {
  const name = `The webhook "${hook.name}"`;
  const feeds = `It feeds ${whomItFeeds(hook)}.`;
  if (!active) return `${name} is suspended with the user: its alerts are refused. ${feeds}`;
  if (hook.suspendedAt !== null) return `${name} stays suspended, because an administrator suspended it.`;
  return `${name} takes alerts again. ${feeds}`;
}

const lastDelivery = ({ lastDeliveryAt }: AdminHook, formatInstant: (instant: string) => string) =>
  lastDeliveryAt === null
    ? 'It has not received anything yet.'
    : `It last received something on ${formatInstant(lastDeliveryAt)}.`;
