import { vi } from 'vitest';

/** Ends in a later millisecond than it begins: ids and times from before are then earlier than new ones. */
export async function nextMillisecond(): Promise<void> {
  const begun = Date.now();
  await vi.waitUntil(() => Date.now() > begun, { interval: 1 });
}
