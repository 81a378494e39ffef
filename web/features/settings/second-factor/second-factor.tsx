import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingState } from '../../../ui/states.tsx';
import { AuthenticatorApp } from './authenticator-app.tsx';
import { useFactors } from './factors-data.ts';
import { Passkeys } from './passkeys.tsx';
import classes from './second-factor.module.css';

interface SecondFactorProps {
  /** Runs after a factor was set up and its recovery codes were saved. */
  onEnrolled?: () => void;
}

const nothing = () => {};

/** Authenticator app, recovery codes and passkeys of the signed-in user. */
export default function SecondFactor({ onEnrolled = nothing }: SecondFactorProps) {
  return (
    <QueryView
      query={useFactors()}
      errorTitle="Failed to fetch the second factors"
      loading={<LoadingState minHeight={300} />}
    >
      {(factors) => (
        <div className={classes.factors}>
          <AuthenticatorApp factors={factors} onEnrolled={onEnrolled} />
          <Passkeys factors={factors} onEnrolled={onEnrolled} />
        </div>
      )}
    </QueryView>
  );
}
