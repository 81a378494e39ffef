import { Button } from '@mantine/core';
import { serverMessage } from '../lib/api-client.ts';
import { useDocumentTitle } from '../lib/use-document-title.ts';
import classes from './session-states.module.css';

/** The same as index.html shows before any code has arrived, so that nothing jumps. */
export function FullScreenLoading() {
  return (
    <main className="full-screen">
      <div className="full-screen-content" role="status">
        <span className="spinner" aria-hidden />
        <span>Loading...</span>
      </div>
    </main>
  );
}

export function SessionError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  useDocumentTitle(undefined);
  return (
    <main className="full-screen">
      <div className="full-screen-content" role="alert">
        <h1 className={classes.title}>Signal Board cannot be reached</h1>
        <p className={classes.detail}>{serverMessage(error, error.message)}</p>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </main>
  );
}
