import type { ActionIconProps, ButtonProps, UnstyledButtonProps } from '@mantine/core';
import { ActionIcon, Button, UnstyledButton } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';
import classes from './link.module.css';

/* Wrapped here, so that a wrong route is a type error, which `component={Link}` would hide. */

type AnchorElementProps<Props> = Props &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & { ref?: Ref<HTMLAnchorElement> };

/** A link inside text. */
export const Link = createLink(({ className = '', ...props }: AnchorElementProps<object>) => (
  <a {...props} className={`mantine-focus-auto ${classes.link} ${className}`} />
));

export const PlainLink = createLink((props: AnchorElementProps<UnstyledButtonProps>) => (
  <UnstyledButton component="a" {...props} />
));

export const ButtonLink = createLink((props: AnchorElementProps<ButtonProps>) => (
  <Button component="a" {...props} />
));

export const ActionIconLink = createLink((props: AnchorElementProps<ActionIconProps>) => (
  <ActionIcon component="a" {...props} />
));

/** Shown above a page title. */
export const BackLink = createLink((props: AnchorElementProps<ButtonProps>) => (
  <div>
    <Button
      component="a"
      variant="subtle"
      size="xs"
      leftSection={<IconArrowLeft size={14} aria-hidden />}
      {...props}
    />
  </div>
));
