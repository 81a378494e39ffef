import { IconDots, IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from '@tabler/icons-react';
import { useState } from 'react';
import { Bell } from '../../features/alerts/bell.tsx';
import { useOverview } from '../../features/dashboard/overview-data.ts';
import { EnvironmentBadge, ModePill } from '../../features/environment/environment-badge.tsx';
import { StopMenu } from '../../features/trading-stops/stop-menu.tsx';
import { useSession } from '../../lib/session.ts';
import { Brand } from '../../ui/brand.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink, PlainLink } from '../../ui/link.tsx';
import { PaletteButton } from '../palette/palette-button.tsx';
import { DisplayMenu } from './display-menu.tsx';
import { NavLinks } from './nav-links.tsx';
import { chooseRail, railChoice } from './shell-choices.ts';
import classes from './shell-header.module.css';
import { UserMenu } from './user-menu.tsx';
import { ZoneClock } from './zone-clock.tsx';

// Without its code the bar lacks these figures; the screen below stays.
const DayFigures = lazily(() => import('./day-figures.tsx').catch(() => ({ default: () => null })));
const NavigationSheet = lazily(() => import('./navigation-sheet.tsx'));

/** The sidebar and the bar. On a phone the sidebar's logo stands in the bar, and its pages are tabs at the bottom. */
export function ShellHeader() {
  return (
    <header className={classes.header}>
      <Sidebar />
      <TopBar />
    </header>
  );
}

function Sidebar() {
  const [moreOpened, setMoreOpened] = useState(false);
  return (
    <div className={classes.sidebar}>
      <PlainLink to="/" className={classes.logo} aria-label="Signal Board">
        <Brand />
      </PlainLink>
      <nav className={classes.nav} aria-label="Main">
        <NavLinks />
        <button
          type="button"
          className={classes.more}
          aria-haspopup="dialog"
          aria-expanded={moreOpened}
          onClick={() => setMoreOpened(true)}
        >
          <IconDots size={18} aria-hidden />
          More
        </button>
      </nav>
      <div className={classes.foot}>
        <ZoneClock />
        <DisplayMenu className={classes.tool} />
        <RailButton />
      </div>
      {moreOpened ? <NavigationSheet onClose={() => setMoreOpened(false)} /> : null}
    </div>
  );
}

function RailButton() {
  const isRail = railChoice.use();
  const label = isRail ? 'Expand sidebar' : 'Collapse sidebar';
  const Icon = isRail ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <button
      type="button"
      className={`${classes.tool} ${classes.railButton}`}
      aria-label={label}
      data-tip={label}
      onClick={() => chooseRail(!isRail)}
    >
      <Icon size={18} stroke={1.7} aria-hidden />
    </button>
  );
}

/** For a user who may not see the environment. */
function OwnMode() {
  const { data } = useOverview({ isAdmin: false, everyMs: 30_000 });
  return <ModePill mode={data?.exchangeMode} />;
}

/** The state of the system at the left, what the operator does at the right. */
function TopBar() {
  const { user } = useSession();
  return (
    <div className={classes.bar}>
      <div className={classes.state}>
        {user.isAdmin ? <EnvironmentBadge /> : null}
        {user.isAdmin === false ? <OwnMode /> : null}
        {/* Whose figures they are depends on the role. */}
        {typeof user.isAdmin === 'boolean' ? <DayFigures /> : null}
      </div>
      <div className={classes.actions}>
        <span className={classes.search}>
          <PaletteButton />
        </span>
        <Bell />
        {user.isAdmin ? (
          <span className={classes.admin}>
            <ButtonLink to="/admin" variant="default" size="xs" className={classes.adminLink}>
              Admin
            </ButtonLink>
          </span>
        ) : null}
        <StopMenu />
        <UserMenu username={user.username} />
      </div>
    </div>
  );
}
