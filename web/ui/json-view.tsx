import classes from './json-view.module.css';

/** Read-only JSON, rendered as text. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  return <TextView text={JSON.stringify(value, null, 2) ?? 'undefined'} label={label} />;
}

/** Read-only text with its own line breaks. */
export function TextView({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.json} aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}
