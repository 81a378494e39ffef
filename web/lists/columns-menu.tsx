import { IconColumns3 } from '@tabler/icons-react';
import { Menu, MenuItem } from '../ui/menu.tsx';
import classes from './columns-menu.module.css';
import { isHidden } from './hidden-columns.ts';

interface ColumnsMenuProps {
  columns: readonly { id?: string; header?: unknown }[];
  hidden: readonly string[];
  onChange: (hidden: readonly string[]) => void;
}

/** Chooses a table's columns. Stays open for several choices. */
export function ColumnsMenu({ columns, hidden, onChange }: ColumnsMenuProps) {
  const toggle = (id: string) =>
    onChange(hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]);
  const hiddenCount = columns.filter(({ id }, index) => isHidden(hidden, id, index)).length;
  return (
    <div className={classes.place}>
      <Menu
        menuLabel="Columns"
        buttonClassName={classes.button}
        button={
          <>
            <IconColumns3 size={14} aria-hidden />
            Columns
            {hiddenCount > 0 ? <span className={classes.count}>{`${hiddenCount} hidden`}</span> : null}
          </>
        }
      >
        {() => (
          <>
            <div className={classes.list}>
              {columns.map(({ id, header }, index) =>
                id === undefined ? null : (
                  <MenuItem
                    key={id}
                    icon={null}
                    checked={!isHidden(hidden, id, index)}
                    several
                    disabled={index === 0}
                    onSelect={() => toggle(id)}
                  >
                    {typeof header === 'string' ? header : id}
                  </MenuItem>
                ),
              )}
            </div>
            <div className={classes.all}>
              <MenuItem icon={null} onSelect={() => onChange([])}>
                Show all
              </MenuItem>
            </div>
          </>
        )}
      </Menu>
    </div>
  );
}
