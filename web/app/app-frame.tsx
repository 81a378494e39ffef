import { Outlet } from '@tanstack/react-router';
import classes from './app-frame.module.css';
import { Header } from './header/header.tsx';

export function AppFrame() {
  return (
    <>
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <Header />
      <main id="content" tabIndex={-1} className={classes.content}>
        <Outlet />
      </main>
    </>
  );
}
