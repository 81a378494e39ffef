import { MantineContext } from '@mantine/core';
import { useColorScheme } from '@mantine/hooks';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { lazy, use } from 'react';
import { Menu } from '../../ui/menu.tsx';

const DisplayMenuItems = lazy(() => import('./display-menu-items.tsx'));

/** The colour scheme, and the height of rows. */
export function DisplayMenu({ className }: { className: string | undefined }) {
  // Mantine's own hook also disables transitions, through an inline <style>.
  const chosen = use(MantineContext)?.colorScheme;
  const ofSystem = useColorScheme('light', { getInitialValueInEffect: false });
  const shown = chosen === 'auto' ? ofSystem : chosen;
  const Icon = shown === 'dark' ? IconSun : IconMoon;
  return (
    <Menu
      label="Display"
      tip="Colour scheme and row height"
      above
      buttonClassName={className}
      button={<Icon size={18} stroke={1.7} aria-hidden />}
    >
      {(close) => <DisplayMenuItems close={close} />}
    </Menu>
  );
}
