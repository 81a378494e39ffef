import { Tabs } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { UserResult } from '#contract/signals.ts';
import { QueryView } from '../ui/query-view.tsx';
import { useDialogHistory } from '../ui/use-dialog-history.ts';
import { UserEligibilityList } from '../ui/user-eligibility-list.tsx';
import classes from './considered-users.module.css';
import { ExplainUser } from './explain-user.tsx';

const FIRST_TAB = 'users';

interface ConsideredUsersProps<User> {
  query: UseQueryResult<readonly User[]>;
  errorTitle: string;
  emptyText: string;
  /** Without a signal there is nothing to explain, and only the list is shown. */
  signalId: string | undefined;
  workflowId: string | undefined;
  /** The tab and the explained user in the URL. */
  search: { tab?: string | undefined; user?: string | undefined };
  /** A newer name of a user. */
  usernameOf?: (userId: string, atHand: string) => string;
  /** Shown above the list. */
  note?: (users: readonly User[]) => ReactNode;
  /** Tabs between the list and the explanation. */
  middle?: readonly { tab: string; title: string; content: ReactNode }[];
  /** Shown above the explanation. */
  children?: ReactNode;
}

/** The users considered for a signal or workflow, and why any user did or did not trade. */
export function ConsideredUsers<User extends UserResult>(props: ConsideredUsersProps<User>) {
  const { query, signalId, workflowId, search, note, middle = [], children } = props;
  const { usernameOf = (_id, atHand) => atHand } = props;
  const { adjust } = useDialogHistory();
  const list = (onWhy?: (userId: string) => void) => (
    <QueryView query={query} errorTitle={props.errorTitle}>
      {(users) => (
        <>
          {note?.(users)}
          <UserEligibilityList
            users={users.map((user) => ({ ...user, username: usernameOf(user.id, user.username) }))}
            emptyText={props.emptyText}
            {...(onWhy ? { onWhy } : {})}
          />
        </>
      )}
    </QueryView>
  );
  if (signalId === undefined) return list();
  return (
    <Tabs
      value={search.tab ?? FIRST_TAB}
      onChange={(tab) => adjust({ tab: tab === null || tab === FIRST_TAB ? undefined : tab })}
      keepMounted={false}
    >
      <Tabs.List className={classes.tabs}>
        <Tabs.Tab value={FIRST_TAB}>Users</Tabs.Tab>
        {middle.map(({ tab, title }) => (
          <Tabs.Tab key={tab} value={tab}>
            {title}
          </Tabs.Tab>
        ))}
        <Tabs.Tab value="why">Why / why not</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value={FIRST_TAB}>{list((user) => adjust({ tab: 'why', user }))}</Tabs.Panel>
      {middle.map(({ tab, content }) => (
        <Tabs.Panel key={tab} value={tab}>
          {content}
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="why">
        <ExplainUser
          signalId={signalId}
          workflowId={workflowId}
          userId={search.user}
          statuses={new Map(query.data?.map(({ id, status }) => [id, status]))}
          onChoose={(user) => adjust({ user })}
        >
          {children}
        </ExplainUser>
      </Tabs.Panel>
    </Tabs>
  );
}
