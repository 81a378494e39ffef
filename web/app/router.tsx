import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router';
import { parseAuditSearch } from '../features/audit/audit-search.ts';
import { parseAutomationSearch } from '../features/automation/automation-search.ts';
import { parseCalculatorSearch } from '../features/calculator/calculator-search.ts';
import { parseDashboardSearch } from '../features/dashboard/dashboard-search.ts';
import { parsePerformanceSearch } from '../features/performance/performance-search.ts';
import { parsePositionsSearch } from '../features/positions/positions-search.ts';
import { parsePriceLogsSearch } from '../features/price-logs/price-logs-search.ts';
import { parseSettingsSearch } from '../features/settings/settings-search.ts';
import { parseSignalsSearch } from '../features/signals/signals-search.ts';
import { parseUsersSearch } from '../features/users/users-search.ts';
import { parseSearch, stringifySearch } from '../lib/search-params.ts';
import { useSession } from '../lib/session.ts';
import { lazily } from '../ui/lazily.tsx';
import { ErrorState, LoadingState } from '../ui/states.tsx';
import { AppFrame } from './app-frame.tsx';

/** Also shown when a page's code fails to load, for example after a server update. */
function RouteError({ error }: ErrorComponentProps) {
  return (
    <ErrorState title="This page could not be shown" error={error} onRetry={() => window.location.reload()} />
  );
}

const NotFound = lazily(async () => ({ default: (await import('./not-found.tsx')).NotFound }));

const rootRoute = createRootRoute({ component: AppFrame, notFoundComponent: () => <NotFound /> });

/** Shows non-administrators the not-found page on every administrator path. */
function AdministratorsOnly() {
  return useSession().user.isAdmin ? <Outlet /> : <NotFound />;
}

const adminArea = createRoute({
  getParentRoute: () => rootRoute,
  id: 'administrators',
  component: AdministratorsOnly,
});

// Each route is its own constant: written inline in addChildren() it would lose its type.
const dashboardRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: parseDashboardSearch,
  component: lazyRouteComponent(
    () => import('../features/dashboard/dashboard-screen.tsx'),
    'DashboardScreen',
  ),
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: parseSettingsSearch,
  component: lazyRouteComponent(() => import('../features/settings/settings-screen.tsx'), 'SettingsScreen'),
});

const adminRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('./pages/admin-page.tsx'), 'AdminPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhook',
  component: lazyRouteComponent(() => import('./pages/webhook-page.tsx'), 'WebhookPage'),
});

const alertsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/alerts',
  component: lazyRouteComponent(() => import('../features/alerts/alerts-screen.tsx'), 'AlertsScreen'),
});

const priceLogsRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/price-logs',
  validateSearch: parsePriceLogsSearch,
  component: lazyRouteComponent(() => import('./pages/price-logs-page.tsx'), 'PriceLogsPage'),
});

const signalsRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/signals',
  validateSearch: parseSignalsSearch,
  component: lazyRouteComponent(() => import('./pages/signals-page.tsx'), 'SignalsPage'),
});

const configurationRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/configuration',
  component: lazyRouteComponent(() => import('./pages/webhook-page.tsx'), 'ConfigurationPage'),
});

const usersRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/create-client',
  validateSearch: parseUsersSearch,
  component: lazyRouteComponent(() => import('./pages/users-page.tsx'), 'UsersPage'),
});

const positionCalculatorRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/position-calculator',
  validateSearch: parseCalculatorSearch,
  component: lazyRouteComponent(
    () => import('./pages/position-calculator-page.tsx'),
    'PositionCalculatorPage',
  ),
});

const automationRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/automation-workflows',
  validateSearch: parseAutomationSearch,
  component: lazyRouteComponent(() => import('./pages/automation-page.tsx'), 'AutomationPage'),
});

const positionMakerRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/position-maker',
  component: lazyRouteComponent(
    () => import('../features/position-maker/position-maker-screen.tsx'),
    'PositionMakerScreen',
  ),
});

const positionsRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/positions',
  validateSearch: parsePositionsSearch,
  component: lazyRouteComponent(() => import('./pages/positions-page.tsx'), 'PositionsPage'),
});

const strategiesRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/strategies',
  component: lazyRouteComponent(() => import('./pages/strategies-page.tsx'), 'StrategiesPage'),
});

const performanceRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/performance',
  validateSearch: parsePerformanceSearch,
  component: lazyRouteComponent(() => import('./pages/performance-page.tsx'), 'PerformancePage'),
});

const auditRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/audit',
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import('./pages/audit-page.tsx'), 'AuditPage'),
});

const feedsRoute = createRoute({
  getParentRoute: () => adminArea,
  path: '/feeds',
  component: lazyRouteComponent(() => import('../features/feeds/feeds-screen.tsx'), 'FeedsScreen'),
});

const routeTree = rootRoute.addChildren([
  dashboardRoute,
  settingsRoute,
  adminRoute,
  webhookRoute,
  alertsRoute,
  adminArea.addChildren([
    priceLogsRoute,
    signalsRoute,
    configurationRoute,
    usersRoute,
    automationRoute,
    positionCalculatorRoute,
    positionMakerRoute,
    positionsRoute,
    strategiesRoute,
    performanceRoute,
    auditRoute,
    feedsRoute,
  ]),
]);

export function createAppRouter() {
  return createRouter({
    routeTree,
    caseSensitive: true,
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingComponent: LoadingState,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: () => <NotFound />,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
