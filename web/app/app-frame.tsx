import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { HaltBanner } from '../features/trading-halts/halt-banner.tsx';
import { StopBanner } from '../features/trading-stops/stop-menu.tsx';
import classes from './app-frame.module.css';
import { Shortcuts } from './palette/shortcuts.tsx';
import { denseRows, railChoice } from './shell/shell-choices.ts';
import { ShellHeader } from './shell/shell-header.tsx';

export function AppFrame() {
  const content = useRef<HTMLElement>(null);
  useFocusOnNewPage(content);
  return (
    <div
      className={classes.frame}
      data-rail={railChoice.use() || undefined}
      data-dense={denseRows.use() || undefined}
    >
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <ShellHeader />
      <div className={classes.column}>
        <HaltBanner />
        <StopBanner />
        <main id="content" ref={content} tabIndex={-1} className={classes.content}>
          <Outlet />
        </main>
      </div>
      <Shortcuts />
    </div>
  );
}

/**
 * Moves the focus to the content on a new page; otherwise keyboard and screen reader stay on a link that may be gone.
 * A changed search parameter (a filter, a dialog) is still the same page.
 */
function useFocusOnNewPage(content: { readonly current: HTMLElement | null }) {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const shown = useRef<string>(undefined);
  useEffect(() => {
    const isOther = shown.current !== undefined && path !== shown.current;
    shown.current = path;
    if (isOther && !document.querySelector('[data-scroll-lock]')) {
      content.current?.focus({ preventScroll: true });
    }
  }, [path, content]);
}
