import classes from './timeline.module.css';

export function Timeline({ lines }: { lines: readonly string[] }) {
  return (
    <ol className={classes.timeline} aria-label="Timeline">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
        <li key={index}>{line}</li>
      ))}
    </ol>
  );
}
