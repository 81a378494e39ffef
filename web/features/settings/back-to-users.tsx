import { IconArrowLeft } from '@tabler/icons-react';
import { ButtonLink } from '../../ui/link.tsx';

export function BackToUsers() {
  return (
    <div>
      <ButtonLink
        to="/create-client"
        variant="subtle"
        size="xs"
        leftSection={<IconArrowLeft size={14} aria-hidden />}
      >
        Back to Users
      </ButtonLink>
    </div>
  );
}
