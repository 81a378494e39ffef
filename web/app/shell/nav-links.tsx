import { IconRefresh } from '@tabler/icons-react';
import { PlainLink } from '../../ui/link.tsx';
import { useNavigationPages } from '../navigation.ts';
import { NavIcon } from './nav-icon.tsx';
import classes from './nav-links.module.css';
import { groupPages, isTab, type ShownPage } from './navigation-groups.ts';

/** The pages that the server lists. In the sheet of a phone: those that are not among its tabs. */
export function NavLinks({ onFollow, inSheet = false }: { onFollow?: () => void; inSheet?: boolean }) {
  const pages = useNavigationPages();
  if (pages.isError && !pages.data) {
    return (
      <button type="button" className={classes.retry} onClick={() => void pages.refetch()}>
        <IconRefresh size={18} stroke={1.7} aria-hidden />
        <span className={classes.name}>Failed to fetch pages. Try again</span>
      </button>
    );
  }
  const groups = groupPages(pages.data ?? []);
  const count = groups.flatMap((group) => group.pages).length;
  return groups.map(({ label, pages: ofGroup }) => {
    const listed = inSheet ? ofGroup.filter(({ path }) => !isTab(path, count)) : ofGroup;
    return listed.length === 0 ? null : (
      <div key={listed[0]?.path} className={classes.group}>
        {label === null ? null : (
          <div className={classes.label} aria-hidden>
            {label}
          </div>
        )}
        <ul aria-label={label ?? undefined}>
          {listed.map((page) => (
            <li key={page.path} data-tab={isTab(page.path, count) || undefined}>
              <NavLink page={page} {...(onFollow ? { onFollow } : {})} />
            </li>
          ))}
        </ul>
      </div>
    );
  });
}

function NavLink({ page, onFollow }: { page: ShownPage; onFollow?: () => void }) {
  return (
    <PlainLink
      to={page.path}
      className={classes.link}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ 'data-active': true }}
      data-tip={page.displayName}
      data-tip-if-narrow
      {...(onFollow ? { onClick: onFollow } : {})}
    >
      <NavIcon page={page} />
      <span className={classes.name}>{page.displayName}</span>
    </PlainLink>
  );
}
