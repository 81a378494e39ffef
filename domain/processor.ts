import { ANY_PROCESSOR } from './user-settings.ts';

/** Equal without regard to case, or Any on either side (decisions §10). */
export function matchesProcessor(setting: string, signalProcessor: string): boolean {
  const any = ANY_PROCESSOR.toLowerCase();
  return (
    sameProcessor(setting, signalProcessor) ||
    [setting, signalProcessor].some((name) => normalised(name) === any)
  );
}

export function sameProcessor(a: string, b: string): boolean {
  return normalised(a) === normalised(b);
}

function normalised(processor: string): string {
  return processor.trim().toLowerCase();
}
