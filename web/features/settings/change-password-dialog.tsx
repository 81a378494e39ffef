import { PasswordInput, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { shortestPassword } from '#domain/password-length.ts';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { toastFailure, toastSuccess } from '../../ui/toast.ts';
import { passwordErrors, refusedPassword } from './password-rules.ts';

const FIELDS = [
  {
    name: 'currentPassword',
    label: 'Current password',
    autoComplete: 'current-password',
    spoken: 'current password',
  },
  { name: 'newPassword', label: 'New password', autoComplete: 'new-password', spoken: 'new password' },
  {
    name: 'confirmPassword',
    label: 'Confirm new password',
    autoComplete: 'new-password',
    spoken: 'confirmation',
  },
] as const;

interface ChangePasswordDialogProps {
  isAdmin: boolean;
  onClose: () => void;
}

export default function ChangePasswordDialog({ isAdmin, onClose }: ChangePasswordDialogProps) {
  const changePassword = useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      requestJson('/api/user-settings/change-password', { method: 'PUT', body }),
    // A toast, visible on any screen: the back button may have closed the dialog.
    onSuccess: () =>
      toastSuccess({ title: 'Password Changed', message: 'Your password has been updated successfully.' }),
    onError: (error) => toastFailure(error, 'Failed to change password'),
    // Do not keep the passwords in memory after the dialog closes.
    gcTime: 0,
  });
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '', confirmPassword: '' },
    validate: (values) => passwordErrors(values, isAdmin),
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: changePassword.isPending, onClose });
  const submit = form.onSubmit(({ currentPassword, newPassword }) =>
    changePassword.mutate(
      { currentPassword, newPassword },
      {
        onSuccess: dialog.done,
        onError: (error) => {
          if (error instanceof ApiError) form.setErrors(refusedPassword(error.body));
        },
      },
    ),
  );
  return (
    <Dialog opened onClose={dialog.close} title="Change Password">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {FIELDS.map(({ name, label, autoComplete, spoken }) => (
            <PasswordInput
              key={name}
              label={label}
              {...(name === 'newPassword' ? { description: lengthHint(isAdmin) } : {})}
              autoComplete={autoComplete}
              visibilityToggleButtonProps={{ 'aria-label': `Show or hide the ${spoken}` }}
              {...form.field(name)}
            />
          ))}
          <DialogButtons
            label="Change Password"
            pendingLabel="Changing..."
            pending={changePassword.isPending}
            onCancel={dialog.close}
          />
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}

/** Names both lengths where they differ, because ordinary users do not see the mode. */
function lengthHint(isAdmin: boolean): string {
  const shortest = shortestPassword({ isAdmin, exchangeMode: undefined });
  const inLiveMode = shortestPassword({ isAdmin, exchangeMode: 'live' });
  return `At least ${shortest} characters${inLiveMode > shortest ? `, ${inLiveMode} in live mode` : ''}`;
}
