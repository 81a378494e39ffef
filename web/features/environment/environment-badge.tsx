import { Tooltip, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import classes from './environment-badge.module.css';
import { EnvironmentDialog } from './environment-dialog.tsx';
import { environmentLook, environmentName } from './environment-look.ts';
import { useEnvironmentStatus } from './environment-status.ts';

export function EnvironmentBadge() {
  const query = useEnvironmentStatus();
  const [opened, dialog] = useDisclosure(false);
  const { label, tone } = environmentLook(query.data);
  const tip = query.data
    ? `Environment: ${environmentName(query.data.environment)}\nAuto-Trade: ${
        query.data.autoTradeEnabled ? 'ENABLED' : 'DISABLED'
      }\nClick for detailed information`
    : query.isError
      ? 'Failed to fetch environment status\nClick for detailed information'
      : 'Loading...\nClick for detailed information';
  return (
    <>
      <Tooltip label={tip} classNames={{ tooltip: classes.tip ?? '' }}>
        <UnstyledButton
          className={classes.badge}
          data-tone={tone}
          aria-haspopup="dialog"
          onClick={dialog.open}
        >
          <span className={classes.dot} aria-hidden />
          {label}
        </UnstyledButton>
      </Tooltip>
      <EnvironmentDialog query={query} opened={opened} onClose={dialog.close} />
    </>
  );
}
