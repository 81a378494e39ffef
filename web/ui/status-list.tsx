import classes from './status-list.module.css';

export function StatusList({ items }: { items: [name: string, value: string][] }) {
  return (
    <dl className={classes.list}>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
