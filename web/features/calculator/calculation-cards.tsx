import type { GenerateAnswer } from '#contract/position-generator.ts';
import { CardTable } from '#web/lists/card-table.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';

/** How the position was calculated: the reason, the method, the calculation lines and all parameters used. */
export default function CalculationCards(props: { calculation: Extract<GenerateAnswer, { success: true }> }) {
  const { hyperparameters, calculationReason, calculationDetail, methodology } = props.calculation;
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
      <Panel
        flush
        title="Calculation Hyperparameters"
        description="Every figure in force, and where it comes from"
      >
        <CardTable
          label="Calculation Hyperparameters"
          columns={[
            {
              header: 'Name',
              place: 'title',
              cell: ({ name }) => <span className={classes.wrapped}>{name}</span>,
            },
            { header: 'Value', cell: ({ value }) => <span className={classes.wrapped}>{value}</span> },
            { header: 'Source', cell: ({ source }) => source },
          ]}
          rows={hyperparameters}
          rowId={({ name }) => name}
          emptyText="The figures are missing in the answer"
          minWidth={600}
        />
      </Panel>
    </>
  );
}
