import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { serverMessage } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { passwordErrors } from './password-rules.ts';
import { useChangePassword } from './save-settings.ts';

export default function ChangePasswordDialog({ onClose }: { onClose: () => void }) {
  const changePassword = useChangePassword({
    // Told wherever the user is by then: the back button may have closed the dialog.
    onSuccess: () =>
      toastSuccess({ title: 'Password Changed', message: 'Your password has been updated successfully.' }),
    onError: (error) =>
      toastError({ title: 'Error', message: serverMessage(error, 'Failed to change password') }),
  });
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '', confirmPassword: '' },
    validate: passwordErrors,
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: changePassword.isPending, onClose });
  const submit = form.onSubmit(({ currentPassword, newPassword }) =>
    changePassword.mutate({ currentPassword, newPassword }, { onSuccess: dialog.done }),
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
