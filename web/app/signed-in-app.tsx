import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { LiveProvider } from '../lib/live/live-context.tsx';
import { useSession } from '../lib/session.ts';
import { lazily } from '../ui/lazily.tsx';
import { ErrorState } from '../ui/states.tsx';
import { TipArea } from '../ui/tip-area.tsx';
import { ToastHost } from '../ui/toast-host.tsx';
import { createAppRouter } from './router.tsx';
import { StepUpHost } from './step-up/step-up-host.tsx';

const EnrolFactorPage = lazily(() =>
  import('./enrol-factor-page.tsx').catch((error: Error) => ({
    default: () => (
      <ErrorState
        title="This page could not be shown"
        error={error}
        onRetry={() => window.location.reload()}
      />
    ),
  })),
);

export default function SignedInApp() {
  return (
    <TipArea>
      <StepUpHost />
      {useSession().mustEnrolFactor ? <EnrolFactorPage /> : <Screens />}
      <ToastHost />
    </TipArea>
  );
}

function Screens() {
  const [router] = useState(createAppRouter);
  return (
    <LiveProvider>
      <RouterProvider router={router} />
    </LiveProvider>
  );
}
