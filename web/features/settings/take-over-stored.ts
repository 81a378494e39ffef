interface FormOf<Values> {
  getValues: () => Values;
  setInitialValues: (values: Values) => void;
  setValues: (values: Values) => void;
}

/** After a save the form starts from what is stored now. What was typed while the answer was on its way stays. */
export function takeOverStored<Values extends object>(
  form: FormOf<Values>,
  options: { sent: Values; stored: Values },
): void {
  const { sent, stored } = options;
  form.setInitialValues(stored);
  if (sameValues(form.getValues(), sent)) form.setValues(stored);
}

const sameValues = <Values extends object>(one: Values, other: Values): boolean =>
  (Object.keys(other) as (keyof Values)[]).every((name) => one[name] === other[name]);
