import { Drawer } from '@mantine/core';
import { useSession } from '../../lib/session.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { PaletteButton } from '../palette/palette-button.tsx';
import { DisplayMenu } from './display-menu.tsx';
import { NavLinks } from './nav-links.tsx';
import classes from './navigation-sheet.module.css';
import { ZoneClock } from './zone-clock.tsx';

/** On a phone: the pages that are not tabs, and what the sidebar's foot has on wide screens. */
export default function NavigationSheet({ onClose }: { onClose: () => void }) {
  const { user } = useSession();
  return (
    <Drawer.Root opened onClose={onClose} position="bottom" size="auto">
      <Drawer.Overlay />
      <Drawer.Content data-scroll-lock aria-label="More" className={classes.content}>
        <Drawer.Header role="presentation" className={classes.head}>
          <PaletteButton onOpen={onClose} />
          {user.isAdmin ? (
            <ButtonLink to="/admin" variant="default" size="xs" onClick={onClose}>
              Admin
            </ButtonLink>
          ) : null}
          <Drawer.CloseButton aria-label="Close" size={36} />
        </Drawer.Header>
        <Drawer.Body>
          <nav className={classes.pages} aria-label="More pages">
            <NavLinks inSheet onFollow={onClose} />
          </nav>
          <div className={classes.foot}>
            <ZoneClock />
            <DisplayMenu className={classes.tool} />
          </div>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
