import type { Calculation } from '#contract/position-generator.ts';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';
import table from './table.module.css';

/** Where the position comes from: every figure in force, the sentence, the lines and the method's formula. */
export function CalculationCards({ calculation }: { calculation: Calculation }) {
  const { hyperparameters, calculationReason, calculationDetail, methodology } = calculation;
  return (
    <>
      <Panel title="Calculation Reasoning">
        <p className={classes.text}>{calculationReason}</p>
      </Panel>
      <Panel title="Calculation Methodology">
        <ol className={classes.methodology}>
          {methodology.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ol>
      </Panel>
      <Panel title="Calculation Details">
        <div className={classes.detail}>{calculationDetail}</div>
      </Panel>
      <Panel title="Calculation Hyperparameters" description="Every figure in force, and where it comes from">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
        <section className={table.scroll} aria-label="Calculation Hyperparameters" tabIndex={0}>
          <table className={table.table} aria-label="Calculation Hyperparameters">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">Source</th>
              </tr>
            </thead>
            <tbody>
              {hyperparameters.map(({ name, value, source }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                  <td className={table.source}>{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </Panel>
    </>
  );
}
