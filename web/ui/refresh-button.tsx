import { Button, type ButtonProps } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Ignores clicks while busy but keeps the focus, which a disabled button would lose. */
export function RefreshButton({
  busy = false,
  onRefresh,
  size,
  children = 'Refresh',
}: {
  busy?: boolean;
  onRefresh: () => void;
  size?: ButtonProps['size'];
  children?: ReactNode;
}) {
  return (
    <Button
      variant="default"
      {...(size === undefined ? {} : { size })}
      leftSection={<IconRefresh size={size === undefined ? 16 : 14} aria-hidden />}
      {...(busy ? { 'aria-disabled': true, 'data-disabled': true } : {})}
      onClick={() => {
        if (!busy) onRefresh();
      }}
    >
      {children}
    </Button>
  );
}
