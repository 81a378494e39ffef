import { createStore } from './store.ts';

/** An open question to the user; calls that are refused meanwhile wait for the same answer. */
export interface StepUpQuestion {
  confirmed: Promise<boolean>;
  answer: (confirmed: boolean) => void;
}

const question = createStore<StepUpQuestion | null>(null);
let isHosted = false;
let confirmations = 0;

/** How often the user has confirmed so far. A call notes it when it is sent. */
export const countConfirmations = (): number => confirmations;

/**
 * Asks the user to confirm a call that was refused without it; false if they cancel. Does not ask when they have
 * confirmed since the call was sent.
 */
export function confirmStepUp({ since }: { since: number }): Promise<boolean> {
  if (since !== confirmations) return Promise.resolve(true);
  const open = question.get();
  if (open) return open.confirmed;
  if (!isHosted) return Promise.resolve(false);
  let settle = (_confirmed: boolean) => {};
  const confirmed = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const asked: StepUpQuestion = {
    confirmed,
    answer: (isConfirmed) => {
      // An answer may arrive late, for example after the user was signed out.
      if (question.get() !== asked) return;
      if (isConfirmed) confirmations += 1;
      question.set(null);
      settle(isConfirmed);
    },
  };
  question.set(asked);
  return confirmed;
}

export const useStepUpQuestion = question.use;
export const openStepUpQuestion = question.get;

/** For the component that shows the question. Returns a function that cancels an open question and shows no more. */
export function hostStepUp(): () => void {
  isHosted = true;
  return () => {
    isHosted = false;
    question.get()?.answer(false);
  };
}
