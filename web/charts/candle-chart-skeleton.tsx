import classes from './candle-chart.module.css';

/** As tall as the chart, so that nothing moves when it loads. */
export function CandleChartSkeleton() {
  return (
    <div className={classes.chart} role="status" aria-label="Loading chart">
      <div className={classes.head} />
      <div className={classes.frame} data-loading />
      <div className={classes.credit} />
    </div>
  );
}
