import { lazy, Suspense } from 'react';
import type { ChangedElsewhereProps } from './changed-elsewhere-notice.tsx';

const Notice = lazy(() => import('./changed-elsewhere-notice.tsx').catch(() => ({ default: PlainNotice })));

/** The notice of a form; its code comes with the first change elsewhere. */
export const ChangedElsewhere = (props: ChangedElsewhereProps) =>
  props.fields.length > 0 ? (
    <Suspense fallback={null}>
      <Notice {...props} />
    </Suspense>
  ) : null;

/** Where its code could not be loaded; Discard takes what is stored as well. */
const PlainNotice = ({ fields }: ChangedElsewhereProps) => (
  <p role="alert">Changed elsewhere: {fields.map(({ label }) => label).join(', ')}</p>
);
