import { hostname } from 'node:os';
import type { AttentionSource, Deps } from '#server/deps.ts';
import { LOW_SPACE } from '#server/platform/free-space.ts';

/** The disk of the data folder, of the machine that answers. */
export function diskConditions({ config, freeSpace }: Pick<Deps, 'config' | 'freeSpace'>): AttentionSource {
  return async () => {
    const free = await freeSpace();
    if (free !== null && free >= LOW_SPACE) return [];
    const disk = `the disk with ${config.dataDir} on ${hostname()}`;
    const text =
      free === null
        ? `The free space of ${disk} cannot be read.`
        : `Only ${(free * 100).toFixed(1)} % of ${disk} is free. Make room: when it is full, nothing can be stored, and alerts are lost.`;
    return [{ code: 'disk_low', severity: 'critical', since: null, text, link: null, action: null }];
  };
}
