import { useQuery } from '@tanstack/react-query';
import type { CalculationExitsAnswer } from '#contract/exit-plans.ts';
import { formatFullPrice } from '../../lib/figures.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { LoadingState } from '../../ui/states.tsx';
import classes from './exits.module.css';
import { calculationExits, plannedSteps } from './exits-data.ts';
import { Steps } from './steps.tsx';

interface CalculationExitsProps {
  calculationId: string;
  token: string;
  /** In USDT. */
  entryPrice: string;
  /** In units of the token. */
  quantity: string;
  /** With a line above it. */
  spaced?: boolean;
}

/** What the exit plan does with the order of a calculation, filled at this entry price. */
export default function CalculationExits({
  calculationId,
  token,
  entryPrice,
  quantity,
  spaced = false,
}: CalculationExitsProps) {
  const query = useQuery<CalculationExitsAnswer>({
    queryKey: [calculationExits(calculationId), { entryPrice, quantity }],
    staleTime: 0,
  });
  return (
    <Section title="Exit Plan" spaced={spaced}>
      <QueryView
        query={query}
        errorTitle="Failed to fetch the exit plan"
        loading={<LoadingState label="Loading the exit plan..." />}
      >
        {({ scope, exits }) =>
          scope === null || exits === null ? (
            <p className={classes.note}>No exit plan: only the stop and the target end the position</p>
          ) : (
            <>
              <Steps steps={plannedSteps(exits, token)} />
              <p className={classes.note}>
                Plan of {scope.title}, if all is filled at {formatFullPrice(entryPrice)}. Stop and target
                close the rest.
              </p>
            </>
          )
        }
      </QueryView>
    </Section>
  );
}
