import type { ActionIconProps, AnchorProps, ButtonProps, UnstyledButtonProps } from '@mantine/core';
import { ActionIcon, Anchor, Button, UnstyledButton } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

/* Wrapped once, so that a wrong route is a type error (`component={Link}` would hide it). */

type AnchorElementProps<Props> = Props &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & { ref?: Ref<HTMLAnchorElement> };

export const Link = createLink((props: AnchorElementProps<AnchorProps>) => <Anchor {...props} />);

export const PlainLink = createLink((props: AnchorElementProps<UnstyledButtonProps>) => (
  <UnstyledButton component="a" {...props} />
));

export const ButtonLink = createLink((props: AnchorElementProps<ButtonProps>) => (
  <Button component="a" {...props} />
));

export const ActionIconLink = createLink((props: AnchorElementProps<ActionIconProps>) => (
  <ActionIcon component="a" {...props} />
));
