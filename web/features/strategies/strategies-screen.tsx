import { ActionIcon, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { RiskLimitsAnswer } from '#contract/risk-limits.ts';
import type { StrategiesAnswer, StrategyView } from '#contract/strategies.ts';
import { Sparkline } from '#web/charts/equity-picture.tsx';
import { strategyExits } from '#web/forms/exits/exits-data.ts';
import { LimitGauges } from '#web/forms/limits/limit-gauges.tsx';
import { LimitActions } from '#web/forms/limits/limits-card.tsx';
import { PROGRAM_LIMITS, strategyLimits } from '#web/forms/limits/limits-data.ts';
import { AT_ONCE, PHONE } from '#web/lists/row-panel.ts';
import { formatCount } from '../../lib/format.ts';
import { stopDialog } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { EmptyState, LoadingState } from '../../ui/states.tsx';
import { LastSignals } from './last-signals.tsx';
import classes from './strategies.module.css';
import { StrategyRules } from './strategy-rules.tsx';
import { Subscribers } from './subscribers.tsx';

const ExitPlanCard = lazily(() => import('#web/forms/exits/exit-plan-card.tsx'), <LoadingState />);

export const strategiesPath = '/api/strategies';
const REFRESH_MS = 10_000;
/** A whole card fills a screen of a phone: there the others show their name, switch and net. */
const WHOLE_ON_PHONE = 2;

/** `stops`: the active stops of new entries, shown below the strategies. */
export function StrategiesScreen({ stops }: { stops: ReactNode }) {
  const query = useQuery<StrategiesAnswer>({ queryKey: [strategiesPath], refetchInterval: REFRESH_MS });
  const isPhone = useMediaQuery(PHONE, false, AT_ONCE);
  return (
    <Page
      title="Strategies"
      subtitle="Each processor that sends signals, who follows it, and how far it may go"
    >
      <QueryView query={query} errorTitle="Failed to fetch strategies">
        {({ strategies, program }) => (
          <div className={classes.cards}>
            {strategies.length === 0 ? (
              <Panel title="Strategies">
                <EmptyState>No processor has sent a signal, and no user follows one</EmptyState>
              </Panel>
            ) : null}
            {strategies.length > 0 ? (
              <ul className={classes.strategies} aria-label="Strategies">
                {strategies.map((strategy, index) => (
                  <li key={strategy.processor}>
                    <StrategyCard
                      strategy={strategy}
                      program={program}
                      folds={isPhone && index >= WHOLE_ON_PHONE}
                    />
                  </li>
                ))}
              </ul>
            ) : null}
            <Panel
              title="Limits of the program"
              description="Over all users and strategies; the tightest applies"
              aside={<LimitActions path={PROGRAM_LIMITS} answer={program} refresh={[strategiesPath]} />}
            >
              <LimitGauges answer={program} />
            </Panel>
            {stops}
          </div>
        )}
      </QueryView>
    </Page>
  );
}

const rate = (part: number, whole: number): string =>
  part / whole >= 0 ? `${((part / whole) * 100).toFixed(1)}%` : '–';

interface StrategyCardProps {
  strategy: StrategyView;
  program: RiskLimitsAnswer;
  /** Only its head and net show until it is unfolded. */
  folds: boolean;
}

function StrategyCard({ strategy, program, folds }: StrategyCardProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const formatInstant = useFormatInstant();
  const { processor, lastSignal, limits, net7d, unknown7d } = strategy;
  const isWhole = isUnfolded || !folds;
  const net = <Profit amount={net7d} {...(unknown7d > 0 ? { aside: `${unknown7d} unknown` } : {})} />;
  const last =
    lastSignal === null
      ? 'Last signal: –'
      : `Last signal ${formatInstant(lastSignal.at)}: ${lastSignal.action} ${lastSignal.token}`;
  return (
    <Panel
      title={processor}
      description={last}
      aside={
        <>
          {strategy.stopped || [...limits.breaches, ...program.breaches].length > 0 ? (
            <Badge tone="failure">New entries stopped</Badge>
          ) : limits.opensAt === null ? (
            // Not green: green is for profit and outcome.
            <Badge tone="accent">New entries on</Badge>
          ) : (
            <Badge tone="warning">Outside trading hours</Badge>
          )}
          <Switch
            size="sm"
            checked={!strategy.stopped}
            aria-label={`New entries of ${processor}`}
            data-tip={strategy.stopped ? `Lift the stop of ${processor}` : `Stop new entries of ${processor}`}
            onChange={() => stopDialog.set({ action: 'stop', kind: 'strategy', value: processor })}
          />
          {folds ? (
            <ActionIcon
              variant="default"
              size={32}
              aria-label={`Details of ${processor}`}
              aria-expanded={isUnfolded}
              onClick={() => setUnfolded(!isUnfolded)}
            >
              {isUnfolded ? (
                <IconChevronUp size={16} aria-hidden />
              ) : (
                <IconChevronDown size={16} aria-hidden />
              )}
            </ActionIcon>
          ) : null}
        </>
      }
    >
      {isWhole ? (
        <StrategyBody strategy={strategy} net={net} />
      ) : (
        <p className={classes.folded}>Net in 7 d, after fees {net}</p>
      )}
    </Panel>
  );
}

function StrategyBody({ strategy, net }: { strategy: StrategyView; net: ReactNode }) {
  const { processor, limits, orders7d, filled7d, closed7d, won7d, trend7d } = strategy;
  return (
    <>
      <div className={classes.top}>
        <dl className={classes.figures}>
          <div className={classes.hero}>
            <dt>Net in 7 d, after fees</dt>
            <dd>{net}</dd>
          </div>
          <div>
            <dt>Signals</dt>
            <dd>{formatCount(strategy.signals7d)}</dd>
          </div>
          <div>
            <dt>Fill rate</dt>
            <dd>{rate(filled7d, orders7d)}</dd>
          </div>
          <div>
            <dt>Win rate</dt>
            <dd>{rate(won7d, closed7d)}</dd>
          </div>
        </dl>
        {closed7d > 0 ? (
          <div className={classes.trend}>
            <Sparkline
              label={`Net of ${processor} over 7 days`}
              points={trend7d.map(({ at, net }) => ({ at, equity: net }))}
              wide
            />
            <div className={classes.axis} aria-hidden>
              <span>7 d ago</span>
              <span>now</span>
            </div>
          </div>
        ) : null}
      </div>
      <Subscribers strategy={strategy} />
      <StrategyRules strategy={strategy} />
      <Section
        spaced
        title={
          <span className={classes.sectionHead}>
            Limits
            <LimitActions path={strategyLimits(processor)} answer={limits} refresh={[strategiesPath]} />
          </span>
        }
      >
        <LimitGauges answer={limits} />
      </Section>
      <ExitPlanCard path={strategyExits(processor)} within />
      <LastSignals processor={processor} />
    </>
  );
}
