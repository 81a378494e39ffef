import { useSession } from '../../lib/session.ts';
import { lazily } from '../../ui/lazily.tsx';
import { useShownHalts } from './get-trading-halts.ts';

const HaltNotice = lazily(() => import('./halt-notice.tsx'));

/** Shown on every screen while a halt concerns the signed-in user; its code loads only then. */
export function HaltBanner() {
  const { user } = useSession();
  const halts = useShownHalts(user).data?.halts ?? [];
  return halts.length === 0 ? null : <HaltNotice halts={halts} isAdmin={user.isAdmin} />;
}
