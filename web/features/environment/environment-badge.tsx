import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { lazily } from '../../ui/lazily.tsx';
import classes from './environment-badge.module.css';
import { environmentLook, environmentTip, exchangeModeLook } from './environment-look.ts';
import { useEnvironmentStatus } from './environment-status.ts';

const EnvironmentDialog = lazily(() => import('./environment-dialog.tsx'));

export function EnvironmentBadge() {
  const query = useEnvironmentStatus();
  const [opened, setOpened] = useState(false);
  const { label, tone } = environmentLook(query.data);
  const mode = query.data?.exchangeMode;
  return (
    <div className={classes.badges}>
      {mode ? (
        <span className={classes.mode} data-mode={mode} data-tip={exchangeModeLook(mode).text}>
          {exchangeModeLook(mode).label}
        </span>
      ) : null}
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
