import { useDocumentTitle } from '../lib/use-document-title.ts';
import { ButtonLink } from '../ui/link.tsx';
import classes from './not-found.module.css';

export function NotFound() {
  useDocumentTitle('Page Not Found');
  return (
    <div className={classes.notFound}>
      <p className={classes.code} aria-hidden>
        404
      </p>
      <h1>Page Not Found</h1>
      <p>There is no page at this address, or it is not open to your account.</p>
      <ButtonLink to="/" variant="default">
        Back to Dashboard
      </ButtonLink>
    </div>
  );
}
