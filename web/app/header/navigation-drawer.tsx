import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { Brand } from '../../ui/brand.tsx';
import classes from './header.module.css';

/** Loaded when it is first opened, which happens only on narrow screens. */
export default function NavigationDrawer({
  onClose,
  children,
}: {
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Drawer.Root opened onClose={onClose} size={280}>
      <Drawer.Overlay />
      <Drawer.Content data-scroll-lock aria-label="Navigation">
        <Drawer.Header role="presentation">
          <Brand />
          <Drawer.CloseButton aria-label="Close navigation" />
        </Drawer.Header>
        <Drawer.Body>
          <nav className={classes.drawerNav} aria-label="Main">
            {children}
          </nav>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
