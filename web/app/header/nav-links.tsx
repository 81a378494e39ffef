import { IconHome, IconRefresh } from '@tabler/icons-react';
import { PlainLink } from '../../ui/link.tsx';
import { useNavigationPages } from '../navigation.ts';
import { isScreen } from '../screens.ts';
import classes from './header.module.css';

/** The server's list, without the page named Settings. */
export function NavLinks({ onFollow }: { onFollow?: () => void }) {
  const pages = useNavigationPages();
  if (pages.isError && !pages.data) {
    return (
      <button type="button" className={classes.navRetry} onClick={() => void pages.refetch()}>
        <IconRefresh size={16} stroke={1.8} aria-hidden />
        Failed to fetch pages. Try again
      </button>
    );
  }
  return pages.data?.map(({ pageName, path, displayName, icon }) =>
    pageName === 'Settings' || !isScreen(path) ? null : (
      <PlainLink
        key={path}
        to={path}
        className={classes.navLink}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'data-active': true }}
        {...(onFollow ? { onClick: onFollow } : {})}
      >
        {icon === 'Home' ? <IconHome size={16} stroke={1.8} aria-hidden /> : null}
        {displayName}
      </PlainLink>
    ),
  );
}
