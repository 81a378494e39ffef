import { useEffect, useState } from 'react';
import { followStored, withTheirUnit } from './follow-stored.ts';
import { type FormOptions, useForm } from './use-form.ts';

interface StoredFormOptions<Values> extends Omit<FormOptions<Values>, 'initialValues'> {
  /** What is stored now, as the fields show it. */
  stored: Values;
  /** While the own save is under way nothing new counts as somebody else's. */
  saving: boolean;
  /** Fields whose meaning the first one decides. */
  together?: readonly (keyof Values)[];
}

/**
 * A form over what others may change at any time. A field that nobody has touched always shows what is stored; one that
 * was changed here and elsewhere keeps what was entered and is in `changedElsewhere`.
 */
export function useStoredForm<Values extends object>(options: StoredFormOptions<Values>) {
  const { stored, saving, together, ...others } = options;
  const form = useForm<Values>({ ...others, initialValues: stored });
  const [kept, setKept] = useState<(keyof Values)[]>([]);

  const takeOver = (initial: Values, now: Values) => {
    const followed = followStored({ values: form.getValues(), initial, stored: now, together });
    form.setInitialValues(now);
    form.setValues(followed.taken);
    return followed.kept;
  };

  useEffect(() => {
    const initial = form.getInitialValues();
    const isNew = (Object.keys(stored) as (keyof Values)[]).some((name) => stored[name] !== initial[name]);
    if (saving || !isNew) return;
    const newlyKept = takeOver(initial, stored);
    setKept((before) => [...new Set([...before, ...newlyKept])]);
  });

  const changedElsewhere = kept.filter((name) => form.values[name] !== form.initialValues[name]);
  if (changedElsewhere.length < kept.length) setKept(changedElsewhere);

  return {
    ...form,
    changedElsewhere,
    /** Gives up what was entered in the fields that were changed elsewhere. */
    takeStored: () => {
      const initial = form.getInitialValues();
      const names = withTheirUnit(changedElsewhere, { values: form.getValues(), initial, together });
      form.setValues(Object.fromEntries(names.map((name) => [name, initial[name]])) as Partial<Values>);
    },
    /** After a save the form starts from what is stored now. What was typed while the answer was on its way stays. */
    saved: (options: { sent: Values; stored: Values }) => {
      takeOver(options.sent, options.stored);
      setKept([]);
    },
  };
}
