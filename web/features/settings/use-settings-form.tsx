import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect } from 'react';
import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { useUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import { type FormOptions, useForm } from '#web/forms/use-form.ts';
import { newerSettings, saveSettings } from '../../lib/save-settings.ts';
import { usersPath } from '../../lib/user-paths.ts';
import { lazily } from '../../ui/lazily.tsx';
import { toastFailure, toastSuccess } from '../../ui/toast.ts';
import classes from './settings-screen.module.css';

const ChangedElsewhere = lazily(async () => ({
  default: (await import('#web/forms/changed-elsewhere.tsx')).ChangedElsewhere,
}));

interface SettingsFormOptions<Values> extends Pick<FormOptions<Values>, 'validate'> {
  settings: UserSettings;
  valuesOf: (settings: UserSettings) => Values;
  bodyOf: (values: Values, initial: Values) => AdminSettingsBody;
  /** API paths that the settings are written to, and that the screen reads them from. */
  path: string;
  readPath: string;
  savedMessage: string;
}

/**
 * A form over settings that others may change at any time. An untouched form follows the stored values. A form with
 * unsaved input keeps it: `changedElsewhere` names the fields changed in the meantime, and the user chooses between
 * both versions before saving.
 */
export function useSettingsForm<Values extends object>(options: SettingsFormOptions<Values>) {
  const { settings, valuesOf, bodyOf, path, readPath, savedMessage, validate } = options;
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (body: AdminSettingsBody) => saveSettings(client, { path, readPath, body }),
    // The users table shows the sizing method.
    onSuccess: () => client.invalidateQueries({ queryKey: [usersPath] }),
  });
  const stored = valuesOf(settings);
  const form = useForm<Values>({ initialValues: stored, ...(validate ? { validate } : {}) });
  const names = Object.keys(stored) as (keyof Values)[];

  const changedIn = (values: Values, now: Values) => {
    const initial = form.getInitialValues();
    return names.filter((name) => now[name] !== initial[name] && now[name] !== values[name]);
  };
  // A save from this form does not count as a change elsewhere.
  const changedElsewhere = form.isDirty() && !save.isPending ? changedIn(form.values, stored) : [];

  const start = (values: Values) => {
    form.setInitialValues(values);
    form.setValues(values);
  };

  // A layout effect runs before the next click: values sent with the newest `updatedAt` must be based on it.
  useLayoutEffect(() => {
    if (save.isPending || changedElsewhere.length > 0) return;
    if (names.every((name) => stored[name] === form.initialValues[name])) return;
    if (form.isDirty()) form.setInitialValues(stored);
    else start(stored);
  });
  useUnsavedChanges(form.isDirty());

  function send(sent: Values, updatedAt: string): void {
    save.mutate(
      { ...bodyOf(sent, form.getInitialValues()), updatedAt },
      {
        onSuccess: (data) => {
          const now = valuesOf(data);
          const values = form.getValues();
          // Keep input typed while the answer was pending.
          const untouched = names.filter((name) => values[name] === sent[name]);
          form.setInitialValues(now);
          form.setValues(Object.fromEntries(untouched.map((name) => [name, now[name]])) as Partial<Values>);
          toastSuccess({ title: 'Settings Updated', message: savedMessage });
        },
        onError: (error) => {
          const newer = newerSettings(error);
          // Only fields of other forms changed, so retry with the newer version.
          if (newer && changedIn(sent, valuesOf(newer)).length === 0) send(sent, newer.updatedAt);
          else toastFailure(error, 'Failed to update settings');
        },
      },
    );
  }

  return {
    ...form,
    saving: save.isPending,
    submit: form.onSubmit((values) => send(values, settings.updatedAt)),
    changedElsewhere,
    takeTheirs: () => start(stored),
    keepMine: () => form.setInitialValues(stored),
  };
}

interface SettingsFormEndProps<Values extends object> {
  form: ReturnType<typeof useSettingsForm<Values>>;
  /** A field's label and its stored value in words. */
  describe: (name: keyof Values) => { label: string; stored: string };
  saveLabel: string;
}

/** The buttons of a settings form, below the notice about changes elsewhere. */
export function SettingsFormEnd<Values extends object>(props: SettingsFormEndProps<Values>) {
  const { form, describe, saveLabel } = props;
  return (
    <>
      {form.changedElsewhere.length === 0 ? null : (
        <ChangedElsewhere
          fields={form.changedElsewhere.map(describe)}
          onTakeTheirs={form.takeTheirs}
          onKeepMine={form.keepMine}
        />
      )}
      <div className={classes.buttons}>
        <Button variant="default" disabled={!form.isDirty() || form.saving} onClick={form.reset}>
          Discard
        </Button>
        <Button type="submit" disabled={form.saving || form.changedElsewhere.length > 0}>
          {form.saving ? 'Saving...' : saveLabel}
        </Button>
      </div>
    </>
  );
}
