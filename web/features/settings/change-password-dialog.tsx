import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { shortestPassword } from '#domain/password-length.ts';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, serverMessage } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useChangePassword } from './change-password.ts';
import { passwordErrors, refusedPassword } from './password-rules.ts';

interface ChangePasswordDialogProps {
  isAdmin: boolean;
  onClose: () => void;
}

export default function ChangePasswordDialog({ isAdmin, onClose }: ChangePasswordDialogProps) {
  const changePassword = useChangePassword({
    // Told wherever the user is by then: the back button may have closed the dialog.
    onSuccess: () =>
      toastSuccess({ title: 'Password Changed', message: 'Your password has been updated successfully.' }),
    onError: (error) =>
      toastError({ title: 'Error', message: serverMessage(error, 'Failed to change password') }),
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
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the current password' }}
            {...form.field('currentPassword')}
          />
          <PasswordInput
            label="New password"
            description={lengthHint(isAdmin)}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the new password' }}
            {...form.field('newPassword')}
          />
          <PasswordInput
            label="Confirm new password"
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the confirmation' }}
            {...form.field('confirmPassword')}
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={dialog.close} disabled={changePassword.isPending}>
              Cancel
            </Button>
            <Button type="submit" disabled={changePassword.isPending}>
              {changePassword.isPending ? 'Changing...' : 'Change Password'}
            </Button>
          </Group>
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}

/** Ordinary users are not shown the mode. */
function lengthHint(isAdmin: boolean): string {
  const shortest = shortestPassword({ isAdmin, exchangeMode: undefined });
  const inLiveMode = shortestPassword({ isAdmin, exchangeMode: 'live' });
  return `At least ${shortest} characters${inLiveMode > shortest ? `, ${inLiveMode} in live mode` : ''}`;
}
