import { Button, Checkbox, Group, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { serverMessage } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useCreateUser } from './create-user.ts';
import { EMPTY_NEW_USER, type NewUserValues, newUserErrors } from './new-user-rules.ts';
import classes from './users-screen.module.css';

export default function CreateUserDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Create New User" size="lg">
      <CreateUserForm onClose={onClose} />
    </Dialog>
  );
}

function CreateUserForm({ onClose }: { onClose: () => void }) {
  const createUser = useCreateUser();
  const form = useForm<NewUserValues>({
    initialValues: EMPTY_NEW_USER,
    validate: newUserErrors,
    validateInputOnBlur: true,
  });

  const submit = form.onSubmit(({ confirmPassword: _, ...values }) => {
    createUser.mutate(
      { ...values, username: values.username.trim() },
      {
        onSuccess: ({ user }) => {
          toastSuccess({ title: 'User Created Successfully', message: `${user.username} can sign in now.` });
          onClose();
        },
        onError: (error) =>
          toastError({
            title: 'Failed to Create User',
            message: serverMessage(error, 'An error occurred while creating the user account'),
          }),
      },
    );
  });

  return (
    <form onSubmit={submit} noValidate className={classes.form}>
      <TextInput
        label="Username"
        description="An e-mail address"
        type="email"
        required
        autoComplete="off"
        className={classes.wide}
        {...form.getInputProps('username')}
      />
      <PasswordInput
        label="Password"
        required
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
        {...form.getInputProps('password')}
      />
      <PasswordInput
        label="Confirm Password"
        required
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password confirmation' }}
        {...form.getInputProps('confirmPassword')}
      />
      <TextInput label="First Name" autoComplete="off" {...form.getInputProps('firstName')} />
      <TextInput label="Last Name" autoComplete="off" {...form.getInputProps('lastName')} />
      <TextInput
        label="Country Code"
        placeholder="+1"
        autoComplete="off"
        {...form.getInputProps('countryCode')}
      />
      <TextInput
        label="Mobile Number"
        inputMode="numeric"
        autoComplete="off"
        {...form.getInputProps('mobileNumber')}
      />
      <Checkbox
        label="Administrator"
        description="May manage users, signals and configuration"
        className={classes.wide}
        {...form.getInputProps('isAdmin', { type: 'checkbox' })}
      />
      <Group justify="flex-end" gap="sm" className={classes.wide}>
        <Button variant="default" onClick={onClose} disabled={createUser.isPending}>
          Cancel
        </Button>
        <Button type="submit" disabled={createUser.isPending}>
          {createUser.isPending ? 'Creating...' : 'Create User'}
        </Button>
      </Group>
    </form>
  );
}
