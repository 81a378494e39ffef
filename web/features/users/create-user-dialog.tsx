import { Button, Checkbox, Group, PasswordInput, TextInput } from '@mantine/core';
import { Select } from '#web/forms/select.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, serverMessage } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useCreateUser } from './create-user.ts';
import {
  type AccountType,
  EMPTY_NEW_USER,
  type NewUserValues,
  newUserBody,
  newUserErrors,
  refusedFields,
} from './new-user-rules.ts';
import classes from './users-screen.module.css';

interface CreateUserDialogProps {
  /** What a new user is unless somebody chooses; undefined while the mode is not known. */
  testUserByDefault: boolean | undefined;
  onClose: () => void;
}

export default function CreateUserDialog({ testUserByDefault, onClose }: CreateUserDialogProps) {
  const createUser = useCreateUser();
  // Checked when it is sent: a message that appears on leaving a field moves the button away from under the click.
  const form = useForm<NewUserValues>({
    initialValues: EMPTY_NEW_USER,
    validate: newUserErrors,
    focusError: true,
  });

  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: createUser.isPending, onClose });

  const submit = form.onSubmit((values) =>
    createUser.mutate(newUserBody(values), {
      onSuccess: ({ user }) => {
        toastSuccess({ title: 'User Created Successfully', message: `${user.username} can sign in now.` });
        dialog.done();
      },
      onError: (error) => {
        if (error instanceof ApiError) form.setErrors(refusedFields(error));
        toastError({
          title: 'Failed to Create User',
          message: serverMessage(error, 'An error occurred while creating the user account'),
        });
      },
    }),
  );

  return (
    <Dialog opened onClose={dialog.close} title="Create New User" size="lg">
      <form onSubmit={submit} noValidate className={classes.form}>
        <TextInput
          label="Username"
          description="An e-mail address"
          type="email"
          required
          autoComplete="off"
          data-autofocus
          className={classes.wide}
          {...form.field('username')}
        />
        <PasswordInput
          label="Password"
          required
          className={classes.password}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
          {...form.field('password')}
        />
        <PasswordInput
          label="Confirm Password"
          required
          className={classes.password}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password confirmation' }}
          {...form.field('confirmPassword')}
        />
        <TextInput label="First Name" autoComplete="off" {...form.field('firstName')} />
        <TextInput label="Last Name" autoComplete="off" {...form.field('lastName')} />
        <TextInput label="Country Code" placeholder="+1" autoComplete="off" {...form.field('countryCode')} />
        <TextInput
          label="Mobile Number"
          inputMode="numeric"
          autoComplete="off"
          {...form.field('mobileNumber')}
        />
        <Select
          label="Account Type"
          description="For whom the automation trades depends on the mode of this installation"
          className={classes.wide}
          data={accountTypes(testUserByDefault)}
          {...form.field('accountType')}
          value={form.values.accountType || typeByDefault(testUserByDefault)}
        />
        <Checkbox
          label="Administrator"
          description="May manage users, signals and configuration"
          className={classes.wide}
          {...form.checkbox('isAdmin')}
        />
        <Group justify="flex-end" gap="sm" className={classes.wide}>
          <Button variant="default" onClick={dialog.close} disabled={createUser.isPending}>
            Cancel
          </Button>
          <Button type="submit" disabled={createUser.isPending}>
            {createUser.isPending ? 'Creating...' : 'Create User'}
          </Button>
        </Group>
      </form>
      {dialog.question}
    </Dialog>
  );
}

function typeByDefault(testUser: boolean | undefined): AccountType {
  if (testUser === undefined) return '';
  return testUser ? 'test' : 'regular';
}

function accountTypes(testUserByDefault: boolean | undefined): { value: AccountType; label: string }[] {
  return [
    ...(testUserByDefault === undefined ? [{ value: '' as const, label: 'As the current mode has it' }] : []),
    { value: 'test', label: 'Test user (paper and demo mode)' },
    { value: 'regular', label: 'Regular user (live mode, real money)' },
  ];
}
