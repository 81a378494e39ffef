import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import classes from './changed-elsewhere-notice.module.css';

export interface ChangedElsewhereProps {
  /** The fields, each with what is stored now. */
  fields: { label: string; stored: string }[];
  onTakeStored: () => void;
}

/** In a form of which fields were changed here and, meanwhile, elsewhere. */
export default function ChangedElsewhereNotice({ fields, onTakeStored }: ChangedElsewhereProps) {
  const list = fields.map(({ label, stored }) => `${label} (now ${stored})`).join(', ');
  return (
    <Alert color="yellow" className={classes.notice} icon={<IconAlertTriangle aria-hidden />}>
      <div className={classes.content}>
        <span className={classes.text}>
          <strong>Changed elsewhere:</strong> {list}. What you have chosen here is kept, and replaces it when
          you save.
        </span>
        <Button size="xs" variant="default" onClick={onTakeStored}>
          {fields.length === 1 ? 'Take stored value' : 'Take stored values'}
        </Button>
      </div>
    </Alert>
  );
}
