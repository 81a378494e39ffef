import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { CsvFile, ExportSource } from '../lib/csv-export.ts';
import { formatCount } from '../lib/format.ts';
import { useSession } from '../lib/session.ts';
import { toastSuccess } from '../ui/toast.ts';

const ExportDialog = lazy(() => import('./export-dialog.tsx'));

/** Delay before the progress dialog, so that a quick export shows none. */
const DIALOG_AFTER_MS = 400;

interface ExportButtonProps<Row> {
  /** First part of the file name. */
  name: string;
  /** Where a screen exports more than one thing. */
  label?: string;
  /** Title of the error when a page cannot be fetched. */
  errorTitle: string;
  createSource: (timeZone: string) => Promise<ExportSource<Row>>;
}

/** Saves all rows that match the filters as a CSV file. Saves nothing unless every page could be fetched. */
export function ExportButton<Row>({
  name,
  label = 'Export CSV',
  errorTitle,
  createSource,
}: ExportButtonProps<Row>) {
  const { displayTimezone } = useSession();
  const [progress, setProgress] = useState<{ rows: number; total: number } | null>(null);
  const [slow, setSlow] = useState(false);
  const running = useRef<AbortController>(undefined);
  const slowTimer = useRef<number>(undefined);
  useEffect(
    () => () => {
      running.current?.abort();
      window.clearTimeout(slowTimer.current);
    },
    [],
  );

  const run = useMutation({
    mutationFn: async (signal: AbortSignal): Promise<CsvFile> => {
      const [{ exportCsv, csvFileName }, { saveFile }] = await Promise.all([
        import('../lib/csv-export.ts'),
        import('../lib/save-file.ts'),
      ]);
      const file = await exportCsv({
        source: await createSource(displayTimezone),
        signal,
        onProgress: setProgress,
      });
      if (file.rows === 0) {
        // Wait until the dialog has closed, because an alert blocks rendering.
        setTimeout(() => window.alert('No data to export'));
        return file;
      }
      const fileName = csvFileName(name, new Date(), displayTimezone);
      saveFile(file.blob, fileName);
      if (file.rows === file.total) {
        toastSuccess({ title: 'CSV Exported', message: `${formatCount(file.rows)} rows in ${fileName}` });
      }
      return file;
    },
  });

  const start = () => {
    const controller = new AbortController();
    running.current = controller;
    setProgress(null);
    setSlow(run.isError);
    window.clearTimeout(slowTimer.current);
    slowTimer.current = window.setTimeout(() => setSlow(true), DIALOG_AFTER_MS);
    run.mutate(controller.signal);
  };
  const close = () => {
    running.current?.abort();
    run.reset();
  };
  const file = run.data;
  const isCut = file !== undefined && file.rows < file.total;

  return (
    <>
      <Button
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        disabled={run.isPending}
        onClick={start}
      >
        {label}
      </Button>
      <Suspense fallback={null}>
        {(run.isPending && slow) || run.isError || isCut ? (
          <ExportDialog
            progress={progress}
            failure={run.isError ? { title: errorTitle, error: run.error, onRetry: start } : null}
            isCut={isCut}
            onClose={close}
          />
        ) : null}
      </Suspense>
    </>
  );
}
