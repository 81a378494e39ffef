import { StrategiesScreen } from '../../features/strategies/strategies-screen.tsx';
import { ActiveStops } from '../../features/trading-stops/active-stops.tsx';

export function StrategiesPage() {
  return <StrategiesScreen stops={<ActiveStops />} />;
}
