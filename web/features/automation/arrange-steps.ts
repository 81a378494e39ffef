import type { WorkflowStep } from '#contract/automation.ts';
import { PIPELINE_STEPS, type UserResult, userResultFromSteps } from '#domain/workflow-lifecycle.ts';

export interface UserSteps {
  userId: string;
  steps: WorkflowStep[];
  result: UserResult;
}

/** Steps up to 7 are the pipeline's, later ones belong to one user each; both sorted by step number. */
export function arrangeSteps(steps: readonly WorkflowStep[]): {
  pipeline: WorkflowStep[];
  users: UserSteps[];
} {
  const sorted = [...steps].sort((a, b) => a.stepNumber - b.stepNumber);
  const isPerUser = (step: WorkflowStep) => step.stepNumber > PIPELINE_STEPS.length && step.userId !== null;
  const byUser = Map.groupBy(sorted.filter(isPerUser), (step) => step.userId ?? '');
  return {
    pipeline: sorted.filter((step) => !isPerUser(step)),
    users: [...byUser].map(([userId, userSteps]) => ({
      userId,
      steps: userSteps,
      result: userResultFromSteps(userSteps),
    })),
  };
}
