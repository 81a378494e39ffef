import type { OpenPositionView } from '#contract/positions.ts';
import { capitalise } from '../lib/format.ts';
import { Badge, type BadgeTone } from './badge.tsx';

const TONES: Readonly<Record<string, BadgeTone>> = { long: 'success', short: 'failure' };

export function SideBadge({ side }: Pick<OpenPositionView, 'side'>) {
  return <Badge tone={TONES[side] ?? 'neutral'}>{capitalise(side) || '–'}</Badge>;
}
