import { IconArrowLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { StatusList } from '../../ui/status-list.tsx';

/** The cards come from the page that composes this screen: it knows which pages there are. */
export function AdminScreen({ cards }: { cards: ReactNode }) {
  return (
    <Page
      title="Admin Dashboard"
      subtitle="Signals, workflows, users and configuration"
      back={
        <div>
          <ButtonLink to="/" variant="subtle" size="xs" leftSection={<IconArrowLeft size={14} aria-hidden />}>
            Back to Main
          </ButtonLink>
        </div>
      }
    >
      {cards}
      <Panel title="System Overview">
        <StatusList
          items={[
            ['System Status', 'Active'],
            ['Data Processing', 'Real-time'],
            ['Access', 'Secure'],
          ]}
        />
      </Panel>
    </Page>
  );
}
