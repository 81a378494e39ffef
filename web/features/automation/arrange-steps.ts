import type { WorkflowStep } from '#contract/automation.ts';
import { PIPELINE_STEPS, type UserResult, userResultFromSteps } from '#domain/workflow/workflow-lifecycle.ts';

interface UserSteps {
  userId: string;
  steps: WorkflowStep[];
  result: UserResult;
}

/** Sorted by number: steps 1 to 6 are the pipeline, step 7 covers all users, later steps belong to one user each. */
export function arrangeSteps(steps: readonly WorkflowStep[]): {
  pipeline: WorkflowStep[];
  processing: WorkflowStep[];
  users: UserSteps[];
} {
  const sorted = [...steps].sort((a, b) => a.stepNumber - b.stepNumber);
  const isPerUser = (step: WorkflowStep) => step.stepNumber > PIPELINE_STEPS.length && step.userId !== null;
  const byUser = Map.groupBy(sorted.filter(isPerUser), (step) => step.userId ?? '');
  return {
    pipeline: sorted.filter(({ stepNumber }) => stepNumber < PIPELINE_STEPS.length),
    processing: sorted.filter((step) => step.stepNumber >= PIPELINE_STEPS.length && !isPerUser(step)),
    users: [...byUser].map(([userId, userSteps]) => ({
      userId,
      steps: userSteps,
      result: userResultFromSteps(userSteps),
    })),
  };
}
