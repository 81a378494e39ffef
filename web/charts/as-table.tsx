import { Button } from '@mantine/core';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import classes from './picture.module.css';

/** A button that switches a picture to its figures. */
export function useAsTable(): { asTable: boolean; toggle: ReactNode } {
  const [asTable, setAsTable] = useState(false);
  const Icon = asTable ? IconChartLine : IconTable;
  return {
    asTable,
    toggle: (
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<Icon size={14} aria-hidden />}
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? 'Show as chart' : 'Show as table'}
      </Button>
    ),
  };
}

interface AsTableProps {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ReactNode[])[];
}

export function AsTable({ label, head, rows }: AsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.figures} aria-label={`Figures: ${label}`} tabIndex={0}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {head.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their order
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={head[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
