import { Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { areSingleKeysOn, paletteKey, switchSingleKeys } from './palette-state.ts';
import classes from './shortcut-help.module.css';

const SINGLE_KEYS = [
  { keys: ['/'], does: 'Go to the first filter of the screen' },
  { keys: ['←', '→'], does: 'Previous and next page of the table' },
  { keys: ['J', 'K'], does: 'Next and previous row in the side panel' },
  { keys: ['?'], does: 'Show this list' },
];

export default function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(areSingleKeysOn);
  const rows = [
    { keys: [paletteKey().text], does: 'Search and go to a page, user, token, signal or workflow' },
    ...SINGLE_KEYS,
    { keys: ['Esc'], does: 'Close a dialog, menu or panel' },
  ];
  return (
    <Dialog opened onClose={onClose} title="Keyboard Shortcuts">
      <Stack gap="md">
        <dl className={classes.list}>
          {rows.map(({ keys, does }) => (
            <div key={does}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key} className={classes.key}>
                    {key}
                  </kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <Switch
          label="Single-key shortcuts"
          description="When off, only the search keeps its key. It finds this list, to turn them on again."
          checked={on}
          onChange={(event) => {
            setOn(event.currentTarget.checked);
            switchSingleKeys(event.currentTarget.checked);
          }}
        />
      </Stack>
    </Dialog>
  );
}
