type Step = () => unknown;

const steps = new Set<Step>();
let isInterrupted = false;

/** Remembers what has to be ended or removed if the run is interrupted; returns what forgets it again. */
export function atInterruption(step: Step): () => void {
  steps.add(step);
  return () => steps.delete(step);
}

/** To be called before anything is started: what an interrupted run still starts would stay behind. */
export function requireRunning(): void {
  if (isInterrupted) throw new Error('The run was interrupted');
}

/** For an interruption: the last things first, each whatever becomes of the others. */
export async function cleanUp(): Promise<void> {
  isInterrupted = true;
  for (let last = [...steps].at(-1); last !== undefined; last = [...steps].at(-1)) {
    steps.delete(last);
    await Promise.resolve()
      .then(last)
      .catch(() => {});
  }
}
