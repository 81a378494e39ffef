import { Alert, Button, Group } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import classes from './changed-elsewhere.module.css';

interface ChangedElsewhereProps {
  /** The fields that differ, each with its stored value. */
  fields: { label: string; stored: string }[];
  onTakeTheirs: () => void;
  onKeepMine: () => void;
}

/** Shown in a form with unsaved input when its settings were changed elsewhere. */
export function ChangedElsewhere({ fields, onTakeTheirs, onKeepMine }: ChangedElsewhereProps) {
  if (fields.length === 0) return null;
  const list = fields.map(({ label, stored }) => `${label} (now ${stored})`).join(', ');
  return (
    <Alert color="yellow" className={classes.notice} icon={<IconAlertTriangle aria-hidden />}>
      <div className={classes.content}>
        <span className={classes.text}>
          <strong>These settings were changed elsewhere:</strong> {list}. If you keep yours, your next save
          replaces these values.
        </span>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onTakeTheirs}>
            Take theirs
          </Button>
          <Button size="xs" variant="default" onClick={onKeepMine}>
            Keep mine
          </Button>
        </Group>
      </div>
    </Alert>
  );
}
