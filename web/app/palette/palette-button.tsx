import { IconSearch } from '@tabler/icons-react';
import classes from './palette-button.module.css';
import { overlay, paletteKey } from './palette-state.ts';

/** An icon where the bar is narrow. */
export function PaletteButton({ onOpen }: { onOpen?: () => void }) {
  const { text, aria } = paletteKey();
  return (
    <button
      type="button"
      className={classes.button}
      aria-keyshortcuts={aria}
      aria-haspopup="dialog"
      data-tip={`Search and go to (${text})`}
      onClick={() => {
        onOpen?.();
        overlay.set('palette');
      }}
    >
      <IconSearch size={16} aria-hidden />
      <span className={classes.text}>Search and go to</span>
      <kbd className={classes.key} aria-hidden>
        {text}
      </kbd>
    </button>
  );
}
