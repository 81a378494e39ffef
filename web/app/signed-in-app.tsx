import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { LiveProvider } from '../lib/live/live-context.tsx';
import { TipArea } from '../ui/tip-area.tsx';
import { ToastHost } from '../ui/toast-host.tsx';
import { createAppRouter } from './router.tsx';

export default function SignedInApp() {
  const [router] = useState(createAppRouter);
  return (
    <LiveProvider>
      <TipArea>
        <RouterProvider router={router} />
        <ToastHost />
      </TipArea>
    </LiveProvider>
  );
}
