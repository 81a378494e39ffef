import type { UserResult } from '#domain/workflow/workflow-lifecycle.ts';
import { capitalise } from '../../lib/format.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import type { UserSteps } from './arrange-steps.ts';
import { StepCard } from './workflow-step.tsx';
import classes from './workflow-steps.module.css';

const RESULT_TONES: Record<UserResult, BadgeTone> = {
  success: 'success',
  skipped: 'neutral',
  failed: 'failure',
  'in progress': 'info',
};

interface UserResultsProps {
  users: UserSteps[];
  usernameOf: (userId: string) => string;
}

export function UserResults({ users, usernameOf }: UserResultsProps) {
  return (
    <section>
      <h3>Users</h3>
      {users.map(({ userId, steps, result }) => {
        const username = usernameOf(userId);
        const reason = steps.find((step) => step.errorMessage)?.errorMessage;
        return (
          <details key={userId} className={classes.user}>
            <summary>
              <strong>{username}</strong>
              <Badge tone={RESULT_TONES[result]}>{capitalise(result)}</Badge>
              {reason && result !== 'success' ? <span className={classes.reason}>{reason}</span> : null}
            </summary>
            <ol className={classes.list}>
              {steps.map((step) => (
                <StepCard key={step.id} step={step} username={username} />
              ))}
            </ol>
          </details>
        );
      })}
    </section>
  );
}
