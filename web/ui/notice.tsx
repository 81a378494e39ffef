import { Alert, type AlertProps } from '@mantine/core';
import { IconAlertCircle, IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';

const LOOKS = {
  info: { color: 'indigo', Icon: IconInfoCircle },
  success: { color: 'teal', Icon: IconCircleCheck },
  warning: { color: 'yellow', Icon: IconAlertTriangle },
  failure: { color: 'red', Icon: IconAlertCircle },
} as const;

interface NoticeProps extends Pick<AlertProps, 'title' | 'className' | 'children'> {
  look: keyof typeof LOOKS;
}

/** A highlighted text inside a page or dialog. */
export function Notice({ look, ...alert }: NoticeProps) {
  const { color, Icon } = LOOKS[look];
  return <Alert color={color} icon={<Icon aria-hidden />} {...alert} />;
}
