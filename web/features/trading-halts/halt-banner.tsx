import { lazy, Suspense } from 'react';
import { useSession } from '../../lib/session.ts';
import { useShownHalts } from './get-trading-halts.ts';

const HaltNotice = lazy(() => import('./halt-notice.tsx'));

/** Shown on every screen while a halt concerns the signed-in user; its code loads only then. */
export function HaltBanner() {
  const { user } = useSession();
  const halts = useShownHalts(user).data?.halts ?? [];
  if (halts.length === 0) return null;
  return (
    <Suspense fallback={null}>
      <HaltNotice halts={halts} isAdmin={user.isAdmin} />
    </Suspense>
  );
}
