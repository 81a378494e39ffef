import { InputBase, type InputBaseProps } from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';
import classes from './select.module.css';

type Option = string | { value: string; label: string; disabled?: boolean };

interface SelectProps
  extends InputBaseProps,
    Omit<ComponentPropsWithRef<'select'>, keyof InputBaseProps | 'children'> {
  data: readonly Option[];
  size?: 'xs' | 'sm';
}

/** A native select. Mantine's NativeSelect would also bundle parts for a custom list. */
export function Select({ data, size = 'sm', ...props }: SelectProps) {
  return (
    <InputBase
      component="select"
      pointer
      size={size}
      rightSectionPointerEvents="none"
      rightSection={<Chevron size={size} failed={Boolean(props.error)} />}
      {...props}
    >
      {data.map((option) => {
        const { value, label, disabled } =
          typeof option === 'string' ? { value: option, label: option, disabled: false } : option;
        return (
          <option key={value} value={value} disabled={disabled}>
            {label}
          </option>
        );
      })}
    </InputBase>
  );
}

const Chevron = ({ size, failed }: { size: 'xs' | 'sm'; failed: boolean }) => (
  <svg
    className={classes.chevron}
    data-size={size}
    data-failed={failed || undefined}
    viewBox="0 0 15 15"
    fill="none"
    stroke="currentColor"
    strokeWidth={0.9}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden
  >
    <path d="m5.25 5.75 2.25-2.25 2.25 2.25m0 3.5-2.25 2.25-2.25-2.25" />
  </svg>
);
