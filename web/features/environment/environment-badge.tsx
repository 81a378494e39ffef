import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { lazily } from '../../ui/lazily.tsx';
import classes from './environment-badge.module.css';
import { environmentLook, environmentTip, exchangeModeLook } from './environment-look.ts';
import { useEnvironmentStatus } from './environment-status.ts';

const EnvironmentDialog = lazily(() => import('./environment-dialog.tsx'));

/** Whether the money is real; nothing until that is known. */
export function ModePill({ mode }: { mode: string | undefined }) {
  if (mode === undefined) return null;
  const { label, text } = exchangeModeLook(mode);
  return (
    <span className={classes.mode} data-mode={mode} data-tip={text}>
      {label}
    </span>
  );
}

export function EnvironmentBadge() {
  const query = useEnvironmentStatus();
  const [opened, setOpened] = useState(false);
  const { label, tone } = environmentLook(query.data);
  const mode = query.data?.exchangeMode;
  return (
    <div className={classes.badges}>
      <ModePill mode={mode} />
      <UnstyledButton
        className={classes.badge}
        data-tone={tone}
        data-tip={environmentTip(query.data, query.isError)}
        aria-haspopup="dialog"
        onClick={() => setOpened(true)}
      >
        <span className={classes.dot} aria-hidden />
        {label}
      </UnstyledButton>
      {opened ? <EnvironmentDialog query={query} onClose={() => setOpened(false)} /> : null}
    </div>
  );
}
