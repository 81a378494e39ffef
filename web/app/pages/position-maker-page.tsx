import { PositionMakerScreen } from '../../features/position-maker/position-maker-screen.tsx';

export function PositionMakerPage() {
  return <PositionMakerScreen />;
}
