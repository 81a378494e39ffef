import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type Toast, toastFailure, toastSuccess } from './toast.ts';

export interface ChangeOptions<Answer, Input = void> {
  send: (input: Input) => Promise<Answer>;
  /** The toast of a success. */
  done?: (answer: Answer, input: Input) => Toast;
  /** The toast of a failure; `otherwise` stands in for a message of the server. */
  failed?: { title?: string; otherwise?: string };
  /** API paths to fetch again, also after a refusal, which means that the screen is outdated. */
  refresh?: readonly string[];
}

/** A request that changes something, reported by toasts even if its screen or dialog was left in the meantime. */
export function useChange<Answer, Input = void>(
  options: ChangeOptions<Answer, Input>,
): UseMutationResult<Answer, Error, Input> {
  const { send, done, failed, refresh = [] } = options;
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (answer, input) => {
      if (done) toastSuccess(done(answer, input));
    },
    onError: (error) => {
      if (failed) toastFailure(error, failed.otherwise ?? error.message, failed.title);
    },
    onSettled: () =>
      Promise.all(
        refresh.map(async (path) => {
          // A first fetch that is under way may have read the old state, and invalidating does not repeat it.
          await client.cancelQueries({ queryKey: [path] });
          await client.invalidateQueries({ queryKey: [path] });
        }),
      ),
  });
}
