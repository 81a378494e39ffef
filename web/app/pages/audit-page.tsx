import { useSearch } from '@tanstack/react-router';
import { AuditScreen } from '../../features/audit/audit-screen.tsx';
import type { AuditSearch } from '../../features/audit/audit-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

export function AuditPage() {
  const search = useSearch({ from: '/administrators/audit' });
  return <AuditScreen search={search} onSearch={useChangeSearch<AuditSearch>()} />;
}
