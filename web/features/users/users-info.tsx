import { Panel } from '../../ui/panel.tsx';
import classes from './users-screen.module.css';

export function UsersInfo() {
  return (
    <Panel title="About users">
      <ul className={classes.info}>
        <li>The username is an e-mail address; it is what the user signs in with.</li>
        <li>
          Active trading decides whether the system executes positions automatically for a user when signals
          arrive. It is off for a new user.
        </li>
        <li>
          Inactive users cannot log in, but their data is kept. Switch 'Include inactive' off to hide them in
          the table; this browser remembers it. Nobody can deactivate the own account.
        </li>
        <li>
          The automation trades for test users in paper and demo mode, and for regular users in live mode.
        </li>
        <li>
          A new user starts with default trading settings; open Settings in the user's row to change them.
        </li>
      </ul>
    </Panel>
  );
}
