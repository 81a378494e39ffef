import { Modal } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { stopDialog } from '../../lib/trading-stops.ts';
import { useReturnFocus } from '../../ui/dialog.tsx';
import classes from './command-palette.module.css';
import { COMMAND_GROUPS, type Command, readQuery } from './commands.ts';
import { usePaletteResult } from './palette-data.ts';
import { overlay } from './palette-state.ts';

/** A combobox in a dialog: the focus stays in the search field, and aria-activedescendant names the active option. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [activeId, setActiveId] = useState<string | null>(null);
  const { commands, note } = usePaletteResult(readQuery(text));
  const listId = useId();
  const router = useRouter();
  useReturnFocus({ enabled: true });
  // Tracked by id, so that later results do not move the choice.
  const active = Math.max(
    commands.findIndex(({ id }) => id === activeId),
    0,
  );
  const current = commands[active];
  const optionId = (command: Command) => `${listId}-${commands.indexOf(command)}`;

  const run = (command: Command) => {
    onClose();
    if (command.stop !== undefined) stopDialog.set(command.stop);
    else if (command.address === null) overlay.set('shortcuts');
    else void router.navigate({ href: command.address });
  };
  const handleKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.nativeEvent.isComposing) return;
    if (step !== undefined) {
      event.preventDefault();
      setActiveId(commands[(active + step + commands.length) % commands.length]?.id ?? null);
    } else if (event.key === 'Enter' && current) {
      event.preventDefault();
      run(current);
    }
  };

  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={600}
      yOffset="8dvh"
      classNames={{ content: classes.content ?? '' }}
      transitionProps={{ duration: 120 }}
    >
      <Modal.Overlay />
      <Modal.Content data-scroll-lock radius="md" aria-label="Search and go to">
        <div className={classes.field}>
          <IconSearch size={18} aria-hidden />
          <input
            data-autofocus
            className={classes.input}
            role="combobox"
            aria-label="Search"
            aria-expanded={commands.length > 0}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={current ? optionId(current) : undefined}
            placeholder="Search pages and more"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setActiveId(null);
            }}
            onKeyDown={handleKey}
          />
          <Modal.CloseButton aria-label="Close dialog" />
        </div>
        <div id={listId} role="listbox" aria-label="Results" className={classes.list}>
          {COMMAND_GROUPS.map((group) => (
            <Group
              key={group}
              name={group}
              commands={commands.filter((command) => command.group === group)}
              current={current}
              optionId={optionId}
              onPoint={setActiveId}
              onRun={run}
            />
          ))}
        </div>
        <p role="status" className={note === null ? 'visually-hidden' : classes.note}>
          {note ?? `${commands.length} ${commands.length === 1 ? 'result' : 'results'}`}
        </p>
      </Modal.Content>
    </Modal.Root>
  );
}

interface GroupProps {
  name: string;
  commands: Command[];
  current: Command | undefined;
  optionId: (command: Command) => string;
  onPoint: (commandId: string) => void;
  onRun: (command: Command) => void;
}

function Group({ name, commands, current, optionId, onPoint, onRun }: GroupProps) {
  const active = useRef<HTMLDivElement>(null);
  const isActiveHere = current !== undefined && commands.includes(current);
  useEffect(() => {
    if (isActiveHere && current) active.current?.scrollIntoView({ block: 'nearest' });
  }, [isActiveHere, current]);
  if (commands.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, and no fieldsets
    <div role="group" aria-label={name}>
      <div className={classes.group} aria-hidden>
        {name}
      </div>
      {commands.map((command) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field runs the active option
        <div
          key={command.id}
          id={optionId(command)}
          ref={command === current ? active : null}
          role="option"
          aria-selected={command === current}
          className={classes.option}
          onPointerMove={() => onPoint(command.id)}
          onClick={() => onRun(command)}
        >
          <span className={classes.label}>{command.label}</span>
          <span className={classes.detail}>{command.detail}</span>
        </div>
      ))}
    </div>
  );
}
