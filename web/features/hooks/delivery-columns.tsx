import type { Delivery } from '#contract/hooks.ts';
import { capitalise } from '../../lib/format.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import type { TableColumns } from '../../ui/data-table.tsx';
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
  { id: 'time', header: 'Time', cell: ({ row }) => formatInstant(row.original.receivedAt) },
  { id: 'kind', header: 'Kind', cell: ({ row }) => capitalise(row.original.kind) },
  { id: 'result', header: 'Result', cell: ({ row }) => <ResultBadge result={row.original.result} /> },
  {
    id: 'reason',
    header: 'Reason',
    cell: ({ row }) => <span className={classes.reason}>{row.original.reason ?? '–'}</span>,
  },
  {
    id: 'source',
    header: 'Source Address',
    cell: ({ row }) => <span className={classes.source}>{row.original.sourceIp}</span>,
  },
];

/** On a telephone the reason has a line of its own, so that nothing has to be scrolled to. */
export const narrowDeliveryColumns = (formatInstant: FormatInstant): TableColumns<Delivery> => [
  {
    id: 'delivery',
    header: 'Delivery',
    cell: ({ row: { original } }) => (
      <div className={classes.delivery}>
        <span>{formatInstant(original.receivedAt)}</span>
        <span className={classes.quiet}>
          {capitalise(original.kind)} from {original.sourceIp}
        </span>
        {original.reason ? <span className={classes.reason}>{original.reason}</span> : null}
      </div>
    ),
  },
  { id: 'result', header: 'Result', cell: ({ row }) => <ResultBadge result={row.original.result} /> },
];
