import { Button, Skeleton, TextInput } from '@mantine/core';
import {
  IconEye,
  IconEyeOff,
  IconPlus,
  IconRefresh,
  IconSend,
  IconTrash,
  IconWebhook,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Webhook } from '#contract/hooks.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { CopyIcon, IconButton } from '../../ui/icon-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useCopy } from '../../ui/use-copy.ts';
import type { WebhookActions } from './use-webhook-actions.ts';
import classes from './webhook-screen.module.css';
import { maskKey, priceUrl, signalUrl } from './webhooks.ts';

export function WebhookSkeleton() {
  return (
    <div className={classes.rows} role="status" aria-label="Loading...">
      <Skeleton height={20} width="40%" />
      <Skeleton height={36} />
      <Skeleton height={36} />
      <Skeleton height={36} />
    </div>
  );
}

export function NoWebhook({ actions }: { actions: WebhookActions }) {
  return (
    <div className={classes.none}>
      <IconWebhook size={36} stroke={1.4} aria-hidden />
      <h3>No Webhook Configured</h3>
      <p>Create a webhook endpoint to start receiving TradingView signals</p>
      <Button
        leftSection={<IconPlus size={16} aria-hidden />}
        disabled={actions.pending}
        onClick={actions.create}
      >
        {actions.pending ? 'Creating...' : 'Create Webhook'}
      </Button>
    </div>
  );
}

export function WebhookDetails({ hook, actions }: { hook: Webhook; actions: WebhookActions }) {
  const formatInstant = useFormatInstant();
  const { suspendedAt, unreadable, lastUsedAt } = hook;
  const trouble = suspendedAt === null ? (unreadable ? 'Key unreadable' : null) : 'Suspended';
  return (
    <div className={classes.rows}>
      <div className={classes.row}>
        <Badge tone={trouble === null ? 'success' : 'failure'}>{trouble ?? 'Active'}</Badge>
        <span className={classes.created}>Created {formatInstant(hook.createdAt)}</span>
        <span className={classes.created}>
          {lastUsedAt ? `Last used ${formatInstant(lastUsedAt)}` : 'Never used'}
        </span>
      </div>
      {suspendedAt === null ? null : (
        <Notice look="failure" title="This webhook is suspended">
          An administrator suspended it on {formatInstant(suspendedAt)}. Alerts are refused until an
          administrator resumes it. Renewing the key does not resume it, and the webhook cannot be deleted
          meanwhile.
        </Notice>
      )}
      {/* An unreadable key offers no test deliveries: they would succeed although alerts are refused. */}
      {unreadable ? (
        <Notice look="failure" title="The webhook key cannot be shown">
          It was sealed with another secret key than the one that the program runs with now. Alerts that use
          it are refused. Renew the key, and use the new URLs in your alerts.
        </Notice>
      ) : (
        <KeyAndUrls hook={hook} actions={actions} />
      )}
      <div className={classes.row}>
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => actions.warn('renew-warning')}
        >
          Renew Key
        </Button>
        <Button
          variant="default"
          leftSection={<IconTrash size={16} aria-hidden />}
          disabled={suspendedAt !== null}
          onClick={() => actions.warn('delete-warning')}
        >
          Delete
        </Button>
      </div>
    </div>
  );
}

function KeyAndUrls({ hook, actions }: { hook: Webhook; actions: WebhookActions }) {
  const { keyVisible } = actions;
  const { origin } = window.location;
  const shownKey = keyVisible ? hook.hookKey : maskKey(hook.hookKey);

  const copyAs = (textOf: (hookKey: string) => string) => (copy: (text: string) => void) => {
    if (keyVisible) copy(textOf(hook.hookKey));
    else actions.askForKey((hookKey) => copy(textOf(hookKey)));
  };

  const EyeIcon = keyVisible ? IconEyeOff : IconEye;
  const toggle = (
    <IconButton
      label={keyVisible ? 'Hide key' : 'Show key'}
      onClick={() => (keyVisible ? actions.hideKey() : actions.askForKey(null))}
    >
      <EyeIcon size={16} aria-hidden />
    </IconButton>
  );

  return (
    <>
      <CopyField
        label="Webhook Key"
        description={
          <>
            Shared by both endpoints (hkid){keyVisible ? null : ' · '}
            {keyVisible ? null : <span>Shown after your password</span>}
          </>
        }
        value={shownKey}
        onCopy={copyAs((hookKey) => hookKey)}
        extra={toggle}
      />
      <CopyField
        label="Signal Webhook URL"
        description="For buy/sell alerts"
        value={signalUrl(origin, shownKey)}
        onCopy={copyAs((hookKey) => signalUrl(origin, hookKey))}
      />
      <CopyField
        label="Price Data Webhook URL"
        description="For sending price data to the monitoring system"
        value={priceUrl(origin, shownKey)}
        onCopy={copyAs((hookKey) => priceUrl(origin, hookKey))}
      />
      <div className={classes.row}>
        {(['signal', 'candle'] as const).map((kind) => (
          <Button
            key={kind}
            variant="light"
            leftSection={<IconSend size={16} aria-hidden />}
            onClick={() => actions.open(`test-${kind}`)}
          >
            Send test {kind}
          </Button>
        ))}
      </div>
    </>
  );
}

interface CopyFieldProps {
  label: string;
  description: ReactNode;
  value: string;
  /** Supplies the text to copy: immediately if the key is visible, else after the password. */
  onCopy: (copy: (text: string) => void) => void;
  extra?: ReactNode;
}

function CopyField({ label, description, value, onCopy, extra }: CopyFieldProps) {
  const { copied, copy } = useCopy({ title: 'Copied', message: `${label} copied to clipboard` });
  return (
    <div className={classes.copyField}>
      <TextInput
        label={label}
        description={description}
        value={value}
        readOnly
        className={classes.copyInput}
        classNames={{ input: 'mono' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      {extra}
      <IconButton
        label={`Copy ${label}`}
        tip={copied ? 'Copied' : `Copy ${label}`}
        onClick={() => onCopy((text) => void copy(text))}
      >
        <CopyIcon copied={copied} />
      </IconButton>
    </div>
  );
}
