import { type ComponentProps, lazy, Suspense } from 'react';
import { LoadingState } from '../../ui/states.tsx';

/* The cards below the trading settings; the screen does not wait for them. */

const LazyAutomationCard = lazy(() =>
  import('./automation-card.tsx').then(({ AutomationCard }) => ({ default: AutomationCard })),
);
const LazyExchangeConnectionCard = lazy(() =>
  import('./exchange-connection-card.tsx').then((loaded) => ({ default: loaded.ExchangeConnectionCard })),
);

export const AutomationCard = (props: ComponentProps<typeof LazyAutomationCard>) => (
  <Suspense fallback={<LoadingState />}>
    <LazyAutomationCard {...props} />
  </Suspense>
);

export const ExchangeConnectionCard = (props: ComponentProps<typeof LazyExchangeConnectionCard>) => (
  <Suspense fallback={<LoadingState />}>
    <LazyExchangeConnectionCard {...props} />
  </Suspense>
);
