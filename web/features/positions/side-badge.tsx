import type { OpenPositionView } from '#contract/positions.ts';
import { Badge } from '../../ui/badge.tsx';

export function SideBadge({ side }: Pick<OpenPositionView, 'side'>) {
  return <Badge tone={side === 'long' ? 'success' : 'failure'}>{side === 'long' ? 'Long' : 'Short'}</Badge>;
}
