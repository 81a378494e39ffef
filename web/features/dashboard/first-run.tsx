import { Button } from '@mantine/core';
import { IconCheck, IconCircleCheck, IconCircleDashed, IconSend } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { DemoSignalAnswer, FirstRunAnswer, FirstRunStepName } from '#contract/first-run.ts';
import { requestJson } from '../../lib/api-client.ts';
import { userPath, usersPath } from '../../lib/user-paths.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useChange } from '../../ui/use-change.ts';
import classes from './first-run.module.css';
import { firstRunPath } from './first-run-data.ts';

const TITLES: Record<FirstRunStepName, string> = {
  webhook: 'Create the webhook',
  user: 'Add a trading user',
  trading: 'Turn trading on',
  signal: 'Send a candle and a signal',
  fill: 'See the first fill',
};

const MODES: Record<FirstRunAnswer['exchangeMode'], string> = {
  paper: 'Everything runs on paper: prices come from your candles and signals, no money moves.',
  demo: 'Orders go to the exchange’s demo trading: no money moves.',
  live: 'Orders go to the exchange: real money is traded.',
};

type Progress = 'done' | 'current' | 'later';
const PROGRESS_TEXT: Record<Progress, string> = { done: 'Done', current: 'Now', later: 'Later' };

/** The way from a fresh installation to the first filled order; each step ticks when the database shows it done. */
export default function FirstRun({ answer }: { answer: FirstRunAnswer }) {
  const { steps, exchangeMode } = answer;
  const doneCount = steps.filter(({ done }) => done).length;
  const current = steps.find(({ done }) => !done)?.step;
  const actions = useActions(answer);
  return (
    <Panel flush>
      <div className={classes.head}>
        <div>
          <h2 className={classes.title}>Five steps to the first fill</h2>
          <p className={classes.mode}>{MODES[exchangeMode]}</p>
        </div>
        <p className={classes.count} role="status">
          <strong>{doneCount}</strong> of {steps.length}
        </p>
        <div className={classes.bar} aria-hidden>
          {steps.map(({ step, done }) => (
            <span key={step} data-progress={progressOf(step, done, current)} />
          ))}
        </div>
      </div>
      <ol className={classes.steps} aria-label="Steps to the first fill">
        {steps.map(({ step, done, detail }, index) => {
          const progress = progressOf(step, done, current);
          return (
            <li
              key={step}
              data-progress={progress}
              aria-current={progress === 'current' ? 'step' : undefined}
            >
              <span className={classes.mark} aria-hidden>
                {done ? <IconCheck size={16} /> : index + 1}
              </span>
              <div className={classes.words}>
                <h3>
                  {TITLES[step]}
                  <span className="visually-hidden"> ({PROGRESS_TEXT[progress]})</span>
                </h3>
                <p>{detail}</p>
                {step === 'signal' && !done ? <Arrivals answer={answer} /> : null}
              </div>
              <div className={classes.action}>{actions[step](progress)}</div>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}

const progressOf = (
  step: FirstRunStepName,
  done: boolean,
  current: FirstRunStepName | undefined,
): Progress => (done ? 'done' : step === current ? 'current' : 'later');

function Arrivals({ answer: { candle, signal } }: { answer: FirstRunAnswer }) {
  return (
    <ul className={classes.arrivals}>
      {(
        [
          ['Candle', candle],
          ['Signal', signal],
        ] as const
      ).map(([name, isThere]) => {
        const Icon = isThere ? IconCircleCheck : IconCircleDashed;
        return (
          <li key={name}>
            <Icon size={15} aria-hidden /> {name}: {isThere ? 'received' : 'none yet'}
          </li>
        );
      })}
    </ul>
  );
}

type Action = (progress: Progress) => ReactNode;

/** One button a step: primary for the current one, quiet once it is done, disabled until its turn. */
function useActions(answer: FirstRunAnswer): Record<FirstRunStepName, Action> {
  const { exchangeMode, mayDemo, tradingUser, webhook } = answer;
  const createWebhook = useChange({
    send: () => requestJson('/api/hooks', { method: 'POST', body: {} }),
    done: () => ({ title: 'Webhook Created' }),
    failed: { otherwise: 'Failed to create webhook' },
    refresh: ['/api/hooks', firstRunPath],
  });
  const turnOn = useChange({
    send: (userId: string) =>
      requestJson(`${userPath(userId)}/active-trading`, { method: 'PUT', body: { activeTrading: true } }),
    done: () => ({ title: 'Active Trading Updated', message: `Trading of ${tradingUser?.username} is on` }),
    failed: { title: 'Failed to Update Active Trading' },
    refresh: [usersPath, firstRunPath],
  });
  const sendDemo = useChange<DemoSignalAnswer>({
    send: () => requestJson<DemoSignalAnswer>(`${firstRunPath}/demo-signal`, { method: 'POST', body: {} }),
    done: ({ message }) => ({ title: 'Demo signal sent', message }),
    failed: { title: 'The demo signal was not sent' },
    refresh: [firstRunPath],
  });
  const settings = { userId: tradingUser?.id };
  return {
    webhook: (progress) => {
      if (progress === 'current' && webhook === 'none') {
        return (
          <Button disabled={createWebhook.isPending} onClick={() => createWebhook.mutate()}>
            {createWebhook.isPending ? 'Creating...' : 'Create Webhook'}
          </Button>
        );
      }
      return (
        <ButtonLink to="/configuration" variant={lookOf(progress)}>
          Configuration
        </ButtonLink>
      );
    },
    user: (progress) => {
      if (progress === 'later') return <Later>Add User</Later>;
      if (progress === 'done')
        return (
          <ButtonLink to="/create-client" variant={lookOf(progress)}>
            Users
          </ButtonLink>
        );
      return (
        <ButtonLink to="/create-client" search={{ dialog: 'create' }}>
          Add User
        </ButtonLink>
      );
    },
    trading: (progress) => {
      if (progress === 'later' || tradingUser === null) return <Later>Turn Trading On</Later>;
      if (progress === 'done' || tradingUser.isPaused) {
        return (
          <ButtonLink to="/settings" search={settings} variant={lookOf(progress)}>
            User Settings
          </ButtonLink>
        );
      }
      // Where money may move, trading is turned on with the question that the list of users asks.
      if (exchangeMode !== 'paper') return <ButtonLink to="/create-client">Open Users</ButtonLink>;
      return (
        <Button disabled={turnOn.isPending} onClick={() => turnOn.mutate(tradingUser.id)}>
          {turnOn.isPending ? 'Updating...' : 'Turn Trading On'}
        </Button>
      );
    },
    signal: (progress) => {
      const label = progress === 'done' ? 'Send again' : 'Send demo signal';
      if (progress === 'later') return <Later>{label}</Later>;
      if (!mayDemo || webhook !== 'ready') {
        return (
          <ButtonLink to="/configuration" variant={lookOf(progress)}>
            Configuration
          </ButtonLink>
        );
      }
      return (
        <Button
          variant={lookOf(progress)}
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={sendDemo.isPending}
          onClick={() => sendDemo.mutate()}
        >
          {sendDemo.isPending ? 'Sending...' : label}
        </Button>
      );
    },
    fill: (progress) =>
      progress === 'later' ? (
        <Later>Open Signals</Later>
      ) : (
        <ButtonLink to="/signals">Open Signals</ButtonLink>
      ),
  };
}

const lookOf = (progress: Progress) => (progress === 'current' ? 'filled' : 'default');

function Later({ children }: { children: string }) {
  return (
    <Button variant="default" disabled>
      {children}
    </Button>
  );
}
