import { lazily } from '../../../ui/lazily.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { LoadingState } from '../../../ui/states.tsx';

const SecondFactor = lazily(() => import('./second-factor.tsx'), <LoadingState minHeight={300} />);

export function SecondFactorCard() {
  return (
    <Panel title="Second factor" description="Asked for after the password when you sign in.">
      <SecondFactor />
    </Panel>
  );
}
