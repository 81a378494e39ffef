import { PER_USER_STEPS, type PerUserStepType, userStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import { type AutomationDeps, processorName } from './automation-deps.ts';
import type { StepStart } from './workflow-steps.store.ts';

export interface UserTask {
  workflowId: string;
  userId: string;
  /** The user's place in the order of trading, from 0. */
  position: number;
}

export const userStep = (
  deps: AutomationDeps,
  { workflowId, userId, position }: UserTask,
  type: PerUserStepType,
  inputData: unknown,
): StepStart => ({
  workflowId,
  stepNumber: userStepNumber(position, type),
  stepName: PER_USER_STEPS.find((step) => step.type === type)?.name ?? type,
  stepType: type,
  userId,
  inputData,
  processorName: processorName(deps),
  at: deps.clock.now(),
});
