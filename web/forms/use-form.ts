import { type ChangeEvent, type SubmitEvent, useRef, useState } from 'react';

type Errors<Values> = Partial<Record<keyof Values, string>>;
type Input = HTMLInputElement | HTMLSelectElement;

export interface FormOptions<Values> {
  initialValues: Values;
  /** Runs on submit. */
  validate?: (values: Values, initial: Values) => Errors<Values>;
  /** Focus the first invalid field. */
  focusError?: boolean;
}

/** Form state for texts and switches. Changing a field removes its error. */
export function useForm<Values extends object>(options: FormOptions<Values>) {
  const [values, setShown] = useState(options.initialValues);
  const [initial, setInitial] = useState(options.initialValues);
  const [errors, setErrors] = useState<Errors<Values>>({});
  // For callbacks of answers that arrive after later renders.
  const latest = useRef({ values, initial });

  const setValues = (change: Partial<Values>) => {
    latest.current.values = { ...latest.current.values, ...change };
    setShown(latest.current.values);
    setErrors((before) => {
      const kept = { ...before };
      for (const name of Object.keys(change) as (keyof Values)[]) delete kept[name];
      return kept;
    });
  };
  const setField = (name: keyof Values, value: unknown) => setValues({ [name]: value } as Partial<Values>);

  return {
    values,
    getValues: () => latest.current.values,
    setValues,
    initialValues: initial,
    getInitialValues: () => latest.current.initial,
    /** Sets the values that `reset` restores. */
    setInitialValues: (next: Values) => {
      latest.current.initial = next;
      setInitial(next);
    },
    errors,
    setErrors,
    isDirty: () => (Object.keys(initial) as (keyof Values)[]).some((name) => values[name] !== initial[name]),
    reset: () => {
      setValues(latest.current.initial);
      setErrors({});
    },
    field: <Name extends keyof Values>(name: Name) => ({
      'data-field': name,
      value: values[name],
      error: errors[name],
      onChange: (input: ChangeEvent<Input> | string) =>
        setField(name, typeof input === 'string' ? input : input.currentTarget.value),
    }),
    checkbox: (name: keyof Values) => ({
      'data-field': name,
      checked: values[name] === true,
      error: errors[name],
      onChange: (event: ChangeEvent<HTMLInputElement>) => setField(name, event.currentTarget.checked),
    }),
    onSubmit: (send: (values: Values) => void) => (event: SubmitEvent<HTMLFormElement>) => {
      event.preventDefault();
      const found = options.validate?.(latest.current.values, latest.current.initial) ?? {};
      setErrors(found);
      const [first] = Object.keys(found);
      if (first === undefined) send(latest.current.values);
      else if (options.focusError) {
        event.currentTarget.querySelector<HTMLElement>(`[data-field="${first}"]`)?.focus();
      }
    },
  };
}
