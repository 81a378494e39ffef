import { IconSearch } from '@tabler/icons-react';
import classes from './palette-button.module.css';
import { overlay, paletteKey } from './palette-state.ts';

/** Shown in the header; narrow screens show only the icon. */
export function PaletteButton() {
  const { text, aria } = paletteKey();
  return (
    <button
      type="button"
      className={classes.button}
      aria-label="Search and go to"
      aria-keyshortcuts={aria}
      aria-haspopup="dialog"
      data-tip={`Search and go to (${text})`}
      onClick={() => overlay.set('palette')}
    >
      <IconSearch size={16} aria-hidden />
      <kbd className={classes.key}>{text}</kbd>
    </button>
  );
}
