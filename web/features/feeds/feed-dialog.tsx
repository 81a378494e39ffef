import { Group, Stack, TextInput } from '@mantine/core';
import type { ChangeFeedBody, Feed } from '#contract/feeds.ts';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { useChange } from '../../ui/use-change.ts';
import { FEEDS, feedName } from './feed-name.ts';

interface FeedForm {
  graceSeconds: string;
  from: string;
  to: string;
}

function formErrors({ graceSeconds, from, to }: FeedForm) {
  const seconds = Number(graceSeconds);
  const isGrace = graceSeconds === '' || (Number.isInteger(seconds) && seconds >= 1 && seconds <= 604_800);
  return {
    ...(isGrace ? {} : { graceSeconds: 'Enter whole seconds from 1 to 604800, or nothing for the default' }),
    ...((from === '') === (to === '') ? {} : { to: 'Enter both times or none' }),
  };
}

/** How late candles may be, and when they are expected. */
export default function FeedDialog({ feed, onClose }: { feed: Feed; onClose: () => void }) {
  const form = useForm<FeedForm>({
    initialValues: {
      graceSeconds: String(feed.graceSeconds),
      from: feed.hours?.from ?? '',
      to: feed.hours?.to ?? '',
    },
    validate: formErrors,
    focusError: true,
  });
  const save = useChange<Feed, ChangeFeedBody>({
    send: (body) => requestJson(`${FEEDS}/${encodeURIComponent(feed.id)}`, { method: 'PUT', body }),
    done: () => ({ title: 'Feed Saved', message: feedName(feed) }),
    failed: { title: 'Failed to Save Feed', otherwise: 'The feed was not saved' },
    refresh: [FEEDS],
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: save.isPending, onClose });
  const submit = form.onSubmit(({ graceSeconds, from, to }) => {
    const isChanged = graceSeconds !== form.initialValues.graceSeconds;
    save.mutate(
      {
        ...(isChanged ? { graceSeconds: graceSeconds === '' ? null : Number(graceSeconds) } : {}),
        hours: from === '' ? null : { from, to },
      },
      { onSuccess: dialog.done },
    );
  });
  return (
    <Dialog opened onClose={dialog.close} title={`Edit ${feedName(feed)}`}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="Late after (seconds)"
            description="After a candle was due. Empty: 10 % of the timeframe, at least 120"
            inputMode="numeric"
            {...form.field('graceSeconds')}
          />
          <Group grow align="flex-start">
            <TextInput
              type="time"
              label="Expected from"
              description="Empty: always"
              {...form.field('from')}
            />
            <TextInput type="time" label="to" description="Time zone of the screens" {...form.field('to')} />
          </Group>
          <DialogButtons
            label="Save"
            pendingLabel="Saving..."
            pending={save.isPending}
            onCancel={dialog.close}
          />
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}
