import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import classes from './header.module.css';

const CHOICES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const;

export function ColorSchemeToggle() {
  // Switching transitions off would need an inline <style>.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const shown = useComputedColorScheme('light');
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
            checked={colorScheme === value}
            onSelect={() => {
              setColorScheme(value);
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
