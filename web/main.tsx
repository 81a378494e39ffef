import './app/styles.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Providers } from './app/providers.tsx';
import { SessionGate } from './app/session-gate.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no root element');

createRoot(root).render(
  <StrictMode>
    <Providers>
      <SessionGate />
    </Providers>
  </StrictMode>,
);
