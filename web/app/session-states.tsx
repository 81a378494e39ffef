import { Button, Loader } from '@mantine/core';
import classes from './session-states.module.css';

export function FullScreenLoading() {
  return (
    <main className={classes.screen}>
      <div className={classes.content} role="status">
        <Loader aria-hidden />
        <span>Loading...</span>
      </div>
    </main>
  );
}

export function SessionError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <main className={classes.screen}>
      <div className={classes.content} role="alert">
        <h1 className={classes.title}>Signal Board cannot be reached</h1>
        <p className={classes.detail}>{error.message}</p>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </main>
  );
}
