import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterContextProvider,
} from '@tanstack/react-router';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CalculatorLink, useHasCalculator } from './calculator-link.tsx';

const SIGNAL_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

const Cell = () => (useHasCalculator() ? <CalculatorLink signalId={SIGNAL_ID} /> : 'no calculator');

/** The link of a signal in a program that has these routes. */
function render(paths: string[]): string {
  const root = createRootRoute();
  const children = paths.map((path) => createRoute({ getParentRoute: () => root, path }));
  const router = createRouter({ routeTree: root.addChildren(children), history: createMemoryHistory() });
  return renderToStaticMarkup(
    <RouterContextProvider router={router}>
      <Cell />
    </RouterContextProvider>,
  );
}

test('the link to the calculator is there as soon as the program has its screen', () => {
  expect(render(['/signals'])).toBe('no calculator');
  expect(render(['/signals', '/position-calculator'])).toContain(
    `href="/position-calculator?signalId=${SIGNAL_ID}"`,
  );
});
