const SECONDS = 60;

/** How often something happened in the last minute, counted by the second: as small and as fast for millions as for one. */
export interface LastMinute {
  /** In this second and the 59 before it. */
  count(nowMs: number): number;
  add(nowMs: number): void;
  /** Since it was made. */
  ever(): number;
}

/** How far back the count reaches, to the beginning of its first second. */
export const reachMs = (nowMs: number): number => (SECONDS - 1) * 1_000 + (nowMs % 1_000);

export function createLastMinute(): LastMinute {
  const bySecond = new Uint32Array(SECONDS);
  let latest = 0;
  let place = 0;
  let sum = 0;
  let ever = 0;

  function moveTo(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === latest) return;
    const passed = second - latest;
    latest = second;
    // A clock that goes back is in another minute as well.
    if (passed < 0 || passed >= SECONDS) {
      bySecond.fill(0);
      sum = 0;
      return;
    }
    for (let step = 0; step < passed; step += 1) {
      place = (place + 1) % SECONDS;
      sum -= bySecond[place] ?? 0;
      bySecond[place] = 0;
    }
  }

  return {
    count(nowMs) {
      moveTo(nowMs);
      return sum;
    },
    add(nowMs) {
      moveTo(nowMs);
      bySecond[place] = (bySecond[place] ?? 0) + 1;
      sum += 1;
      ever += 1;
    },
    ever: () => ever,
  };
}
