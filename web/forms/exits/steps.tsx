import classes from './exits.module.css';

/** The steps of a plan, in words. */
export function Steps({ steps }: { steps: readonly string[] }) {
  if (steps.length === 0) return <p className={classes.note}>Nothing but the stop and the target</p>;
  return (
    <ul className={classes.steps}>
      {steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ul>
  );
}
