import { withLease } from '#server/platform/jobs/leases.ts';
import { type AuditDeps, createProtectionAudit } from './audit-protection.ts';

const AUDIT_EVERY_MS = 30_000;
/** Who audits may be frozen in the midst of it: the audit is not left alone for a whole round more. */
export const HELD_RETRY_MS = 5_000;

/**
 * Audits the protection of all open positions at once and then every half minute, by one instance at a time. That
 * also records the ends of positions while nobody looks at a screen: an exchange forgets its history after some months.
 */
export function startProtectionAudit(
  deps: AuditDeps,
  { everyMs = AUDIT_EVERY_MS, heldRetryMs = HELD_RETRY_MS }: { everyMs?: number; heldRetryMs?: number } = {},
): () => void {
  const audit = createProtectionAudit(deps);
  let isAuditing = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;
  async function run(): Promise<void> {
    if (isAuditing) return;
    isAuditing = true;
    clearTimeout(retry);
    const lease = { db: deps.db, key: 'protection:audit', holder: deps.config.instanceId, log: deps.log };
    try {
      const { held } = await withLease(lease, (own) => audit.run(own));
      if (!held && !isStopped) retry = setTimeout(() => void run(), heldRetryMs);
    } catch (error) {
      deps.log.warn({ err: error }, 'the protection of open positions could not be audited');
    }
    isAuditing = false;
  }
  const timer = setInterval(() => void run(), everyMs);
  void run();
  return () => {
    isStopped = true;
    clearInterval(timer);
    clearTimeout(retry);
  };
}
