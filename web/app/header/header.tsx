import { Burger, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { EnvironmentBadge } from '../../features/environment/environment-badge.tsx';
import { useSession } from '../../lib/session.ts';
import { Brand } from '../../ui/brand.tsx';
import { ButtonLink, PlainLink } from '../../ui/link.tsx';
import { ColorSchemeToggle } from './color-scheme-toggle.tsx';
import classes from './header.module.css';
import { NavLinks } from './nav-links.tsx';
import { UserMenu } from './user-menu.tsx';

export function Header() {
  const { user } = useSession();
  const [drawerOpened, drawer] = useDisclosure(false);
  const adminLink = (
    <ButtonLink to="/admin" variant="default" size="xs" onClick={drawer.close}>
      Admin
    </ButtonLink>
  );

  return (
    <header className={classes.header}>
      <Burger
        className={classes.burger}
        size="sm"
        opened={drawerOpened}
        onClick={drawer.toggle}
        aria-label="Open navigation"
        aria-expanded={drawerOpened}
      />
      <PlainLink to="/" className={classes.logo} aria-label="Signal Board">
        <Brand />
      </PlainLink>
      <nav className={classes.nav} aria-label="Main">
        <NavLinks />
      </nav>
      <div className={classes.right}>
        {user.isAdmin ? (
          <>
            <EnvironmentBadge />
            <span className={classes.wide}>{adminLink}</span>
          </>
        ) : null}
        <ColorSchemeToggle />
        <UserMenu username={user.username} />
      </div>
      <Drawer.Root opened={drawerOpened} onClose={drawer.close} size={280}>
        <Drawer.Overlay />
        <Drawer.Content data-scroll-lock aria-label="Navigation">
          <Drawer.Header role="presentation">
            <Brand />
            <Drawer.CloseButton aria-label="Close navigation" />
          </Drawer.Header>
          <Drawer.Body>
            <nav className={classes.drawerNav} aria-label="Main">
              <NavLinks onFollow={drawer.close} />
              {user.isAdmin ? adminLink : null}
            </nav>
          </Drawer.Body>
        </Drawer.Content>
      </Drawer.Root>
    </header>
  );
}
