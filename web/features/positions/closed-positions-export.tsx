import { ExportButton } from '#web/lists/export-button.tsx';

interface ClosedPositionsExportProps {
  userId: string | undefined;
  token: string | undefined;
}

export default function ClosedPositionsExport(filter: ClosedPositionsExportProps) {
  return (
    <ExportButton
      name="closed-positions"
      errorTitle="Failed to fetch closed positions"
      createSource={async (timeZone) =>
        (await import('./closed-positions-csv.ts')).closedPositionsCsv(filter, timeZone)
      }
    />
  );
}
