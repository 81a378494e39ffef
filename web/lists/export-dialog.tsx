import { Button, Group, Progress, Stack } from '@mantine/core';
import { MAX_EXPORT_ROWS } from '../lib/csv-export.ts';
import { formatCount } from '../lib/format.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorState } from '../ui/states.tsx';

interface ExportDialogProps {
  /** Null until the first page has arrived. */
  progress: { rows: number; total: number } | null;
  failure: { title: string; error: unknown; onRetry: () => void } | null;
  /** The saved file lacks the rows beyond its limit. */
  isCut: boolean;
  onClose: () => void;
}

export default function ExportDialog({ progress, failure, isCut, onClose }: ExportDialogProps) {
  const { rows, total } = progress ?? { rows: 0, total: 0 };
  const wanted = Math.min(total, MAX_EXPORT_ROWS);
  return (
    <Dialog opened onClose={onClose} title="Export CSV">
      {failure ? (
        <ErrorState {...failure} />
      ) : (
        <Stack gap="md">
          <div className="numeric">
            {isCut
              ? `The newest ${formatCount(rows)} of ${formatCount(total)} rows were exported.`
              : progress === null
                ? 'Loading...'
                : `${formatCount(rows)} of ${formatCount(wanted)} rows`}
          </div>
          {isCut ? null : (
            <Progress
              value={wanted === 0 ? 0 : (rows / wanted) * 100}
              animated={progress === null}
              aria-label="Rows fetched"
            />
          )}
          {total > MAX_EXPORT_ROWS ? (
            <div>
              A file takes {formatCount(MAX_EXPORT_ROWS)} rows, the newest of {formatCount(total)}. Narrow the
              filters to export the others.
            </div>
          ) : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {isCut ? 'Close' : 'Cancel'}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
