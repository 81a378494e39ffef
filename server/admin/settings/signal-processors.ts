import { isProcessorName, sameProcessor } from '#domain/eligibility/processor.ts';
import { ANY_PROCESSOR, SIGNAL_PROCESSORS } from '#domain/user-settings.ts';
import { MOST_CHOICES } from '#server/platform/db/list-totals/list-choices.ts';

/** The choices of the settings form: the usual ones, then those seen that settings may name. */
export function signalProcessors(seen: readonly string[]): string[] {
  const choices: string[] = [...SIGNAL_PROCESSORS, ANY_PROCESSOR];
  for (const processor of seen) {
    const isKnown = choices.some((choice) => sameProcessor(choice, processor));
    if (!isKnown && isProcessorName(processor)) choices.push(processor);
  }
  return choices.slice(0, MOST_CHOICES);
}
