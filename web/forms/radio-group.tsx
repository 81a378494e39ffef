import { Input } from '@mantine/core';
import { useId } from 'react';
import classes from './radio-group.module.css';

interface RadioGroupProps {
  label: string;
  description: string;
  value: string;
  choices: readonly { value: string; label: string; description: string }[];
  className?: string | undefined;
  onChange: (value: string) => void;
}

/** Native radios: Mantine's would also bundle its radio cards and indicators. */
export function RadioGroup({ label, description, value, choices, className, onChange }: RadioGroupProps) {
  const id = useId();
  return (
    <Input.Wrapper id={id} className={className} labelElement="div" label={label} description={description}>
      <div
        role="radiogroup"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-description`}
        className={classes.choices}
      >
        {choices.map((choice) => (
          <div key={choice.value} className={classes.choice}>
            <input
              type="radio"
              id={`${id}-${choice.value}`}
              name={id}
              value={choice.value}
              checked={choice.value === value}
              className={`mantine-focus-auto ${classes.radio}`}
              aria-describedby={`${id}-${choice.value}-text`}
              onChange={() => onChange(choice.value)}
            />
            <div className={classes.words}>
              <label htmlFor={`${id}-${choice.value}`}>{choice.label}</label>
              <Input.Description id={`${id}-${choice.value}-text`} className={classes.text}>
                {choice.description}
              </Input.Description>
            </div>
          </div>
        ))}
      </div>
    </Input.Wrapper>
  );
}
