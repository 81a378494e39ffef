import type { ExchangePlatform } from '#domain/user-settings.ts';
import { useUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import { useForm } from '#web/forms/use-form.ts';
import { type CredentialValues, credentialErrors, EMPTY_CREDENTIALS } from './credential-rules.ts';

export type CredentialsFormState = ReturnType<typeof useCredentialsForm>;

/** Starts empty always: what is stored never comes back. */
export function useCredentialsForm(exchangePlatform: ExchangePlatform) {
  const form = useForm({
    initialValues: EMPTY_CREDENTIALS,
    validate: (values: CredentialValues) => credentialErrors(values, exchangePlatform),
  });
  useUnsavedChanges(form.isDirty());
  return form;
}
