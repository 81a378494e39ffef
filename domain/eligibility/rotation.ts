/**
 * The order of trading of a strategy with rotation: users of the same trading order (`tradeOrderSet`) take turns at being
 * first; the letters keep their order. Every second signal reverses the order before it, so that after an even number
 * of signals with the same users their mean ranks are equal, and everyone has been first equally often after twice as
 * many signals as there are users.
 *
 * `users` are in the usual order; `signalNumber` counts the strategy's signals from 0. Throws a RangeError for anything
 * but a whole number from 0.
 */
export function rotateUsers<User extends { tradeOrderSet: string }>(
  users: readonly User[],
  signalNumber: number,
): User[] {
  if (!Number.isSafeInteger(signalNumber) || signalNumber < 0) {
    throw new RangeError(`Not the number of a signal: ${signalNumber}`);
  }
  const byLetter = [...Map.groupBy(users, ({ tradeOrderSet }) => tradeOrderSet).values()];
  return byLetter.flatMap((same) => rotateOnce(same, signalNumber));
}

function rotateOnce<User>(users: readonly User[], signalNumber: number): User[] {
  const first = Math.floor(signalNumber / 2) % users.length;
  const rotated = [...users.slice(first), ...users.slice(0, first)];
  return signalNumber % 2 === 0 ? rotated : rotated.reverse();
}
