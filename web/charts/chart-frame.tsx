import { Button } from '@mantine/core';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import classes from './candle-chart.module.css';

interface ChartFrameProps {
  /** The figures of the point under the pointer, beside the picture. */
  figures: ReactNode;
  table: ReactNode;
  /** Called when the user is about to open the table. */
  onPrepareTable?: () => void;
  /** The picture. */
  children: ReactNode;
}

/** A chart as a picture or as a table, with the credit that its library's licence requires. */
export function ChartFrame({ figures, table, onPrepareTable, children }: ChartFrameProps) {
  const [asTable, setAsTable] = useState(false);
  const Icon = asTable ? IconChartLine : IconTable;
  return (
    <figure className={classes.chart}>
      <div className={classes.head}>
        {asTable ? (
          <span />
        ) : (
          <p className={classes.figures} aria-hidden>
            {figures}
          </p>
        )}
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<Icon size={14} aria-hidden />}
          onPointerEnter={onPrepareTable}
          onFocus={onPrepareTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {asTable ? table : children}
      <figcaption className={classes.credit}>
        TradingView Lightweight Charts™, © TradingView, Inc.{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
          www.tradingview.com
        </a>
      </figcaption>
    </figure>
  );
}
