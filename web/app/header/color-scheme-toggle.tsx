import { MantineContext } from '@mantine/core';
import { useColorScheme } from '@mantine/hooks';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { use } from 'react';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import classes from './header.module.css';

const CHOICES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const;

export function ColorSchemeToggle() {
  // The library's hook also switches transitions off, with an inline <style>.
  const mantine = use(MantineContext);
  const ofSystem = useColorScheme('light', { getInitialValueInEffect: false });
  const chosen = mantine?.colorScheme;
  const shown = chosen === 'auto' ? ofSystem : chosen;
  return (
    <Menu
      label="Colour scheme"
      tip="Colour scheme"
      buttonClassName={classes.iconButton}
      button={shown === 'dark' ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />}
    >
      {(close) =>
        CHOICES.map(({ value, label, icon: Icon }) => (
          <MenuItem
            key={value}
            icon={<Icon size={16} aria-hidden />}
            checked={chosen === value}
            onSelect={() => {
              mantine?.setColorScheme(value);
              close();
            }}
          >
            {label}
          </MenuItem>
        ))
      }
    </Menu>
  );
}
