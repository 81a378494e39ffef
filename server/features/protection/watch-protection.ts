import type { Deps } from '#server/deps.ts';
import { withLease } from '#server/platform/leases.ts';
import { type AuditDeps, createProtectionAudit } from './audit-protection.ts';

const AUDIT_EVERY_MS = 30_000;

/**
 * Audits the protection of all open positions at once and then every half minute, by one instance at a time. That
 * also records the ends of positions while nobody looks at a screen: an exchange forgets its history after some months.
 */
export function startProtectionAudit(
  deps: AuditDeps & Pick<Deps, 'config'>,
  { everyMs = AUDIT_EVERY_MS }: { everyMs?: number } = {},
): () => void {
  const audit = createProtectionAudit(deps);
  let isAuditing = false;
  async function run(): Promise<void> {
    if (isAuditing) return;
    isAuditing = true;
    const lease = { db: deps.db, key: 'protection:audit', holder: deps.config.instanceId };
    await withLease(lease, (held) => audit.run(held)).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'the protection of open positions could not be audited'),
    );
    isAuditing = false;
  }
  const timer = setInterval(() => void run(), everyMs);
  void run();
  return () => clearInterval(timer);
}
