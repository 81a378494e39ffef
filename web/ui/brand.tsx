import { IconAdjustmentsAlt } from '@tabler/icons-react';
import classes from './brand.module.css';

export function Brand({ inverted = false }: { inverted?: boolean }) {
  return (
    <span className={classes.brand} data-inverted={inverted || undefined}>
      <span className={classes.mark} aria-hidden>
        <IconAdjustmentsAlt size={inverted ? 22 : 18} stroke={1.8} />
      </span>
      Signal Board
    </span>
  );
}
