import { IconSearch } from '@tabler/icons-react';
import { paletteKey } from './key-names.ts';
import classes from './palette-button.module.css';
import { showOverlay } from './palette-state.ts';

/** For the header: on narrow screens the icon alone. */
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
      onClick={() => showOverlay('palette')}
    >
      <IconSearch size={16} aria-hidden />
      <kbd className={classes.key}>{text}</kbd>
    </button>
  );
}
