import type { Delivery } from '#contract/hooks.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { capitalise } from '../../lib/format.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import classes from './delivery-columns.module.css';

type FormatInstant = (instant: string) => string;

const RESULT_TONES: Record<Delivery['result'], BadgeTone> = {
  stored: 'success',
  duplicate: 'neutral',
  refused: 'failure',
  limited: 'warning',
};

const ResultBadge = ({ result }: { result: Delivery['result'] }) => (
  <Badge tone={RESULT_TONES[result]}>{capitalise(result)}</Badge>
);

export const deliveryColumns = (formatInstant: FormatInstant): TableColumns<Delivery> => [
  { id: 'time', header: 'Time', cell: (delivery) => formatInstant(delivery.receivedAt) },
  { id: 'kind', header: 'Kind', cell: (delivery) => capitalise(delivery.kind) },
  { id: 'result', header: 'Result', cell: (delivery) => <ResultBadge result={delivery.result} /> },
  {
    id: 'reason',
    header: 'Reason',
    cell: (delivery) => <span className={classes.reason}>{delivery.reason ?? '–'}</span>,
  },
  {
    id: 'source',
    header: 'Source Address',
    cell: (delivery) => <span className={classes.source}>{delivery.sourceIp}</span>,
  },
];

/** On a telephone the reason has a line of its own, so that nothing has to be scrolled to. */
export const narrowDeliveryColumns = (formatInstant: FormatInstant): TableColumns<Delivery> => [
  {
    id: 'delivery',
    header: 'Delivery',
    cell: (delivery) => (
      <div className={classes.delivery}>
        <span>{formatInstant(delivery.receivedAt)}</span>
        <span className={classes.quiet}>
          {capitalise(delivery.kind)} from {delivery.sourceIp}
        </span>
        {delivery.reason ? <span className={classes.reason}>{delivery.reason}</span> : null}
      </div>
    ),
  },
  { id: 'result', header: 'Result', cell: (delivery) => <ResultBadge result={delivery.result} /> },
];
