import { MantineContext } from '@mantine/core';
import { IconBaselineDensitySmall, IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { use } from 'react';
import { MenuItem } from '../../ui/menu.tsx';
import { chooseDenseRows, denseRows } from './shell-choices.ts';

const COLOR_SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const;

export default function DisplayMenuItems({ close }: { close: () => void }) {
  const mantine = use(MantineContext);
  const dense = denseRows.use();
  return (
    <>
      {COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
        <MenuItem
          key={value}
          icon={<Icon size={16} aria-hidden />}
          checked={mantine?.colorScheme === value}
          onSelect={() => {
            mantine?.setColorScheme(value);
            close();
          }}
        >
          {label}
        </MenuItem>
      ))}
      <MenuItem
        icon={<IconBaselineDensitySmall size={16} aria-hidden />}
        checked={dense}
        several
        onSelect={() => {
          chooseDenseRows(!dense);
          close();
        }}
      >
        Dense rows
      </MenuItem>
    </>
  );
}
