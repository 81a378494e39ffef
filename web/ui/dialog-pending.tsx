import classes from './dialog-pending.module.css';

/** In place of a dialog whose code is on its way; seen only when that takes a while. */
export function DialogPending() {
  return (
    <div className={classes.pending} role="status">
      <span className="spinner" aria-hidden />
      <span className="visually-hidden">Loading...</span>
    </div>
  );
}
