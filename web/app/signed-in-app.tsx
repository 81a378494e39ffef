import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { ToastViewport } from '../ui/toast-viewport.tsx';
import { createAppRouter } from './router.tsx';

export default function SignedInApp() {
  const [router] = useState(createAppRouter);
  return (
    <>
      <RouterProvider router={router} />
      <ToastViewport />
    </>
  );
}
