import { ANY_PROCESSOR } from '../user-settings.ts';

/** Case-insensitive match, or Any on either side. */
export function matchesProcessor(setting: string, signalProcessor: string): boolean {
  const any = ANY_PROCESSOR.toLowerCase();
  return (
    sameProcessor(setting, signalProcessor) ||
    [setting, signalProcessor].some((name) => normalised(name) === any)
  );
}

/** Of a signal's processor, in characters. Settings may name shorter ones only. */
export const LONGEST_PROCESSOR = 64;

const PROCESSOR_NAME = /^[\p{L}\p{N} ._-]{1,40}$/u;

/** Whether settings may use this name: 1 to 40 letters, digits, spaces, `-`, `_` and `.`. Signals may carry others. */
export function isProcessorName(text: string): boolean {
  return PROCESSOR_NAME.test(text) && text.trim() !== '';
}

export function sameProcessor(a: string, b: string): boolean {
  return normalised(a) === normalised(b);
}

function normalised(processor: string): string {
  return processor.trim().toLowerCase();
}
