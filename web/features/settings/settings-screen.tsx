import { type Place, UnsavedChangesGuard } from '#web/forms/unsaved-changes-guard.tsx';
import { useSession } from '../../lib/session.ts';
import { OtherUserSettings } from './other-user-settings.tsx';
import { OwnSettings } from './own-settings.tsx';
import type { SettingsSearch } from './settings-search.ts';

interface SettingsScreenProps {
  search: SettingsSearch;
  onSearch: (change: SettingsSearch) => void;
}

const userIdOf = ({ search }: Place) => ('userId' in search ? search.userId : undefined);

/** Dialogs of this screen have addresses too, which take no form away. */
const leavesForms = (from: Place, to: Place) =>
  from.pathname !== to.pathname || userIdOf(from) !== userIdOf(to);

/** A userId in the address is admin mode; from anybody else it is ignored, and the own settings are shown. */
export function SettingsScreen({ search, onSearch }: SettingsScreenProps) {
  const { user } = useSession();
  const adminModeOf = user.isAdmin ? search.userId : undefined;
  return (
    <>
      {adminModeOf !== undefined && adminModeOf !== user.id ? (
        <OtherUserSettings key={adminModeOf} userId={adminModeOf} />
      ) : (
        <OwnSettings
          key={adminModeOf ?? ''}
          user={user}
          adminMode={adminModeOf !== undefined}
          passwordDialog={search.dialog === 'password'}
          onPasswordDialog={(opened) => onSearch({ dialog: opened ? 'password' : undefined })}
        />
      )}
      <UnsavedChangesGuard leaves={leavesForms} />
    </>
  );
}
