import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import type { CreateUserBody, User } from '#contract/users.ts';
import { type ExchangeMode, eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { shortestPassword } from '#domain/password-length.ts';
import { Select } from '#web/forms/select.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { usersPath } from '../../lib/user-paths.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { useChange } from '../../ui/use-change.ts';
import {
  type AccountType,
  EMPTY_NEW_USER,
  type NewUserValues,
  newUserBody,
  newUserErrors,
  refusedFields,
} from './new-user-rules.ts';
import classes from './users.module.css';

const PASSWORDS = [
  { name: 'password', label: 'Password', spoken: 'password' },
  { name: 'confirmPassword', label: 'Confirm Password', spoken: 'password confirmation' },
] as const;

interface CreateUserDialogProps {
  exchangeMode: ExchangeMode | undefined;
  onClose: () => void;
}

export default function CreateUserDialog({ exchangeMode, onClose }: CreateUserDialogProps) {
  const createUser = useChange({
    send: (body: CreateUserBody) =>
      requestJson<{ user: User }>('/api/admin/create-client', { method: 'POST', body }),
    done: ({ user }) => ({
      title: 'User Created Successfully',
      message: `${user.username} can sign in now.`,
    }),
    failed: {
      title: 'Failed to Create User',
      otherwise: 'An error occurred while creating the user account',
    },
    refresh: [usersPath],
  });
  // Validate on submit: a message that appears on blur would move the button away from under the click.
  const form = useForm<NewUserValues>({
    initialValues: EMPTY_NEW_USER,
    validate: (values) => newUserErrors(values, exchangeMode),
    focusError: true,
  });

  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: createUser.isPending, onClose });

  const submit = form.onSubmit((values) =>
    createUser.mutate(newUserBody(values), {
      onSuccess: dialog.done,
      onError: (error) => error instanceof ApiError && form.setErrors(refusedFields(error)),
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
        {PASSWORDS.map(({ name, label, spoken }) => (
          <PasswordInput
            key={name}
            label={label}
            description={name === 'password' ? lengthHint(exchangeMode) : null}
            // The description is below the input, which keeps both inputs level.
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            required
            className={classes.password}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': `Show or hide the ${spoken}` }}
            {...form.field(name)}
          />
        ))}
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
          data={accountTypes(exchangeMode)}
          {...form.field('accountType')}
          value={form.values.accountType || typeByDefault(exchangeMode)}
        />
        <Checkbox
          label="Administrator"
          description="May manage users, signals and configuration"
          className={classes.wide}
          {...form.checkbox('isAdmin')}
        />
        <div className={classes.wide}>
          <DialogButtons
            label="Create User"
            pendingLabel="Creating..."
            pending={createUser.isPending}
            onCancel={dialog.close}
          />
        </div>
      </form>
      {dialog.question}
    </Dialog>
  );
}

function lengthHint(exchangeMode: ExchangeMode | undefined): string {
  const [user, administrator] = [false, true].map((isAdmin) => shortestPassword({ isAdmin, exchangeMode }));
  const forAdministrators = user === administrator ? '' : `, ${administrator} for an administrator`;
  return `At least ${user} characters${forAdministrators}`;
}

/** The type of a new user when none is chosen. */
function typeByDefault(exchangeMode: ExchangeMode | undefined): AccountType {
  if (exchangeMode === undefined) return '';
  return eligibilityMode(exchangeMode) === 'sandbox' ? 'test' : 'regular';
}

function accountTypes(exchangeMode: ExchangeMode | undefined): { value: AccountType; label: string }[] {
  return [
    ...(exchangeMode === undefined ? [{ value: '' as const, label: 'As the current mode has it' }] : []),
    { value: 'test', label: 'Test user (paper and demo mode)' },
    { value: 'regular', label: 'Regular user (live mode, real money)' },
  ];
}
