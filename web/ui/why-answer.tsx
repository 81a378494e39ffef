import { IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { ExplainedDecision, WhyAnswer } from '#contract/signals.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import { capitalise, plainCount, shortId } from '../lib/format.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from './badge.tsx';
import { Facts } from './facts.tsx';
import { StatusBadge } from './trading-badges.tsx';
import { useReadableInstants } from './use-readable-instants.ts';
import { EligibilityBadge } from './user-eligibility-list.tsx';
import classes from './why-answer.module.css';

const OUTCOME_TONES: Record<WhyAnswer['conclusion']['outcome'], BadgeTone> = {
  traded: 'success',
  'in progress': 'info',
  'not eligible': 'neutral',
  skipped: 'warning',
  failed: 'failure',
  'not considered': 'outline',
};

/** Explains why a user did or did not trade a signal: outcome, decision then and now, and the steps after it. */
export function WhyAnswerView({ answer }: { answer: WhyAnswer }) {
  const formatInstant = useFormatInstant();
  const readable = useReadableInstants();
  const { conclusion, workflow, decidedThen, decidedNow } = answer;
  return (
    <div className={classes.answer}>
      <section className={classes.conclusion} aria-label="Conclusion">
        <Badge tone={OUTCOME_TONES[conclusion.outcome]}>{capitalise(conclusion.outcome)}</Badge>
        <strong>{readable(conclusion.text)}</strong>
        {workflow ? (
          <p className={classes.quiet}>
            {capitalise(workflow.trigger)} workflow{' '}
            <span className="mono" data-tip={workflow.workflowId}>
              {shortId(workflow.workflowId, 9)}
            </span>{' '}
            of {formatInstant(workflow.createdAt)},{' '}
            {[workflow.status, outcomeText(workflow.outcome)].filter(Boolean).join(': ')}
          </p>
        ) : null}
      </section>
      <div className={classes.decisions}>
        {decidedThen ? (
          <DecisionTrace
            title="As decided then"
            when={workflow?.selectedAt ? formatInstant(workflow.selectedAt) : ''}
            decision={decidedThen}
          />
        ) : (
          <section className={classes.box} aria-label="As decided then">
            <h3>As decided then</h3>
            <p className={classes.text}>Nothing was decided on this user. {conclusion.text}.</p>
            <p className={classes.text}>The user was created at {formatInstant(answer.user.createdAt)}.</p>
          </section>
        )}
        <DecisionTrace
          title="As it would be decided now"
          when={decidedThen && decidedThen.reason !== decidedNow.reason ? 'Different from then' : ''}
          decision={decidedNow}
        />
      </div>
      <AfterEligibility answer={answer} />
    </div>
  );
}

const ICONS: Readonly<Record<string, typeof IconCheck>> = {
  passed: IconCheck,
  failed: IconX,
  'not reached': IconMinus,
};

interface DecisionTraceProps {
  title: string;
  /** Time of the decision, or another remark beside the title. */
  when: string;
  decision: ExplainedDecision;
}

/** One decision about one user: the deciding rule, what it saw and wanted, and all rules in order. */
function DecisionTrace({ title, when, decision }: DecisionTraceProps) {
  const { status, reason, rule, saw, wanted, checks } = decision;
  const readable = useReadableInstants();
  const isEligible = status === 'eligible';
  return (
    <section className={classes.box} aria-label={title}>
      <div className={classes.head}>
        <h3>{title}</h3>
        <EligibilityBadge status={status} />
      </div>
      {when ? <p className={classes.when}>{when}</p> : null}
      <p className={classes.reason}>{readable(reason)}</p>
      {isEligible ? null : (
        <Facts
          columns={2}
          facts={[
            ['Deciding rule', rule],
            ['It saw', readable(saw)],
            ['It wanted', readable(wanted)],
          ]}
        />
      )}
      <ol className={classes.checks}>
        {checks.map((check) => {
          const Icon = ICONS[check.result] ?? IconMinus;
          return (
            <li key={check.rule} data-result={check.result}>
              <Icon size={15} stroke={2.2} aria-hidden />
              <span className={classes.rule}>{check.rule}</span>
              <span className={classes.result}>{check.result}</span>
              {check.saw !== null && check.wanted !== null ? (
                <span className={classes.values}>{readable(`saw ${check.saw}, wanted ${check.wanted}`)}</span>
              ) : null}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

export const ORDER_STATES: Readonly<Record<string, string>> = {
  working: 'Order under way',
  protecting: 'Placing stop loss and take profit',
  closing: 'Closing the position',
};
export const FILLS = { filled: 'Filled', partial: 'Partly filled', unfilled: 'Unfilled', unknown: 'Unknown' };

function AfterEligibility({ answer: { steps, trades } }: { answer: WhyAnswer }) {
  const formatInstant = useFormatInstant();
  if (steps.length === 0 && trades.length === 0) return null;
  return (
    <section className={classes.box} aria-label="After eligibility">
      <h3>After eligibility</h3>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <li key={step.stepNumber}>
            <div className={classes.head}>
              <span>
                {plainCount(step.stepNumber)}. {step.stepName}
              </span>
              <StatusBadge status={step.status} />
            </div>
            {step.errorMessage ? <p className={classes.failure}>{step.errorMessage}</p> : null}
          </li>
        ))}
        {trades.map((trade) => (
          <li key={trade.id}>
            <div className={classes.head}>
              <span>
                {orderName(trade)}, {formatInstant(trade.createdAt)}
              </span>
              <Badge tone={trade.success ? 'success' : trade.state === 'done' ? 'failure' : 'info'}>
                {trade.state === 'done' ? FILLS[trade.fillStatus ?? 'unknown'] : orderState(trade.state)}
              </Badge>
            </div>
            {trade.error ? <p className={classes.failure}>{trade.error}</p> : null}
            {trade.orderId ? <p className={classes.quiet}>Order ID {trade.orderId}</p> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

function orderName({ ofThisWorkflow, workflowId }: WhyAnswer['trades'][number]): string {
  if (ofThisWorkflow) return 'Order of this workflow';
  return workflowId === null
    ? 'Order of the position calculator'
    : `Order of workflow ${shortId(workflowId, 9)}`;
}

const orderState = (state: string): string => ORDER_STATES[state] ?? capitalise(state);
