import { type KeyboardEvent, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import classes from './menu.module.css';

interface MenuProps {
  /** Accessible name of the menu button; omit it when its content is the name. */
  label?: string;
  /** Accessible name of the menu when its button has no label. */
  menuLabel?: string;
  tip?: string;
  /** Opens upwards, to the right of the button's left edge. */
  above?: boolean;
  buttonClassName?: string | undefined;
  button: ReactNode;
  /** Its code may load when the menu opens. */
  children: (close: () => void) => ReactNode;
}

/**
 * A menu below its button, right-aligned. Mantine's menu would bundle a positioning engine of 40 KiB (gzip), which the
 * menus of the shell do not need.
 */
export function Menu({
  label,
  menuLabel = label ?? 'Account',
  tip,
  above = false,
  buttonClassName,
  button,
  children,
}: MenuProps) {
  const [opened, setOpened] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const id = useId();
  const items = () => [
    ...(root.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)') ?? []),
  ];

  const close = () => {
    setOpened(false);
    trigger.current?.focus();
  };

  useEffect(() => {
    if (!opened) return;
    const closeFromOutside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpened(false);
    };
    document.addEventListener('pointerdown', closeFromOutside);
    return () => document.removeEventListener('pointerdown', closeFromOutside);
  }, [opened]);

  const move = (event: KeyboardEvent) => {
    const all = items();
    const current = all.indexOf(document.activeElement as HTMLElement);
    const target = {
      ArrowDown: (current + 1) % all.length,
      ArrowUp: (current - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      all[target]?.focus();
    } else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpened(false);
  };

  return (
    <div className={classes.root} ref={root}>
      <button
        ref={trigger}
        type="button"
        className={buttonClassName}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={opened}
        aria-controls={opened ? id : undefined}
        data-tip={opened ? undefined : tip}
        onClick={() => setOpened(!opened)}
      >
        {button}
      </button>
      {opened ? (
        <div
          id={id}
          role="menu"
          aria-label={menuLabel}
          className={classes.menu}
          data-above={above || undefined}
          onKeyDown={move}
        >
          <Suspense>
            {children(close)}
            <OnceShown run={() => items()[0]?.focus()} />
          </Suspense>
        </div>
      ) : null}
    </div>
  );
}

/** Runs when its neighbours in the same Suspense are there. */
function OnceShown({ run }: { run: () => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(run, []);
  return null;
}

interface MenuItemProps {
  icon: ReactNode;
  /** Set for items that are one of several choices. */
  checked?: boolean;
  /** Several choices can be checked. */
  several?: boolean;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}

export function MenuItem(props: MenuItemProps) {
  const { icon, checked, several = false, disabled = false, onSelect, children } = props;
  const role =
    checked === undefined
      ? { role: 'menuitem' }
      : { role: several ? 'menuitemcheckbox' : 'menuitemradio', 'aria-checked': checked };
  return (
    <button
      {...role}
      type="button"
      className={classes.item}
      tabIndex={-1}
      disabled={disabled}
      onClick={onSelect}
    >
      {icon}
      {children}
    </button>
  );
}
