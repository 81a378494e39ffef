import type { ErrorBody } from '#contract/errors.ts';
import type { NoticeCode, Severity } from '#contract/notices.ts';
import type {
  CHANNEL_KINDS,
  ChannelBody,
  ChannelKind,
  NotificationChannel,
} from '#contract/notification-channels.ts';

export const CHANNELS = '/api/notification-channels';

/** A copy of the contract's list, kept equal by its type: importing its module would bundle zod. */
export const KINDS: typeof CHANNEL_KINDS = ['webhook', 'telegram', 'discord', 'slack', 'email'];

export const KIND_LABELS: Record<ChannelKind, string> = {
  webhook: 'Webhook',
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  email: 'E-mail',
};

interface Field {
  name: string;
  label: string;
  hint?: string;
  secret?: boolean;
  optional?: boolean;
}

/** What is entered for each kind; `secure` of a mail server is a checkbox of its own. */
export const FIELDS: Record<ChannelKind, readonly Field[]> = {
  webhook: [
    { name: 'url', label: 'Address', hint: 'https://…, gets signed POST requests', secret: true },
    {
      name: 'secret',
      label: 'Secret',
      hint: 'whsec_…; empty: one is made and shown once',
      secret: true,
      optional: true,
    },
  ],
  telegram: [
    { name: 'botToken', label: 'Bot token', hint: 'From @BotFather', secret: true },
    { name: 'chatId', label: 'Chat id', hint: 'A number, or @name of a public channel' },
  ],
  discord: [
    { name: 'url', label: 'Webhook address', hint: 'Channel settings, Integrations, Webhooks', secret: true },
  ],
  slack: [
    { name: 'url', label: 'Webhook address', hint: 'An incoming webhook of a Slack app', secret: true },
  ],
  email: [
    { name: 'host', label: 'Mail server' },
    { name: 'port', label: 'Port' },
    { name: 'username', label: 'User name', optional: true },
    { name: 'password', label: 'Password', secret: true, optional: true },
    { name: 'from', label: 'From' },
    { name: 'to', label: 'To', hint: 'Several are separated by commas' },
  ],
};

export interface ChannelForm {
  kind: ChannelKind;
  name: string;
  minSeverity: Severity;
  quietFrom: string;
  quietTo: string;
  enabled: boolean;
  answers: boolean;
  secure: boolean;
  /** `config.url` and so on. */
  [field: `config.${string}`]: string;
}

export function formOf(channel: NotificationChannel | null): ChannelForm {
  const texts = Object.values(FIELDS)
    .flat()
    .map(({ name, secret }) => {
      const value = channel?.config[name];
      // Secrets are never in the form: an empty field keeps them.
      return [`config.${name}`, secret || value === undefined ? '' : String(value)];
    });
  return {
    kind: channel?.kind ?? 'webhook',
    name: channel?.name ?? '',
    minSeverity: channel?.minSeverity ?? 'info',
    quietFrom: channel?.quietHours?.from ?? '',
    quietTo: channel?.quietHours?.to ?? '',
    enabled: channel?.enabled ?? true,
    answers: channel?.answers ?? false,
    secure: channel?.config.secure !== false,
    ...Object.fromEntries([...texts, ...(channel === null ? [['config.port', '465']] : [])]),
  };
}

type Errors = Partial<Record<keyof ChannelForm, string>>;

export function formErrors(form: ChannelForm, isNew: boolean): Errors {
  const missing = FIELDS[form.kind].filter(
    ({ name, optional, secret }) => !optional && !(secret && !isNew) && form[`config.${name}`]?.trim() === '',
  );
  return {
    ...(form.name.trim() === '' ? { name: 'Name is required' } : {}),
    ...Object.fromEntries(missing.map(({ name, label }) => [`config.${name}`, `${label} is required`])),
    ...((form.quietFrom === '') === (form.quietTo === '') ? {} : { quietTo: 'Enter both times or none' }),
  };
}

export function bodyOf(form: ChannelForm, codes: readonly NoticeCode[] | null): ChannelBody {
  const { kind, name, minSeverity, quietFrom, quietTo, enabled, answers, secure } = form;
  const config: ChannelBody['config'] = kind === 'email' ? { secure } : {};
  for (const { name: field, secret } of FIELDS[kind]) {
    const text = form[`config.${field}`]?.trim() ?? '';
    if (text !== '') config[field] = field === 'port' ? Number(text) : text;
    else if (!secret) config[field] = null;
  }
  return {
    kind,
    name: name.trim(),
    config,
    minSeverity,
    codes: codes === null ? null : [...codes],
    quietHours: quietFrom === '' ? null : { from: quietFrom, to: quietTo },
    enabled,
    ...(kind === 'telegram' ? { answers } : {}),
  };
}

/** The server's first error of each field that the form has. */
export function refusedFields(body: Partial<ErrorBody> | undefined, form: ChannelForm): Errors {
  const places: Record<string, string> = { 'quietHours.from': 'quietFrom', 'quietHours.to': 'quietTo' };
  const named = (body?.errors ?? [])
    .map(({ path, message }) => [places[path] ?? path, message] as const)
    .filter(([path]) => path in form);
  return Object.fromEntries(named.toReversed());
}
