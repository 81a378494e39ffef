import { expect, test } from 'vitest';
import { takeOverStored } from './take-over-stored.ts';

type Values = Record<'portion' | 'risk', string>;

function formWith(values: Values) {
  const form = { values, initial: values };
  return {
    form,
    getValues: () => form.values,
    setInitialValues(next: Values) {
      form.initial = next;
    },
    setValues(next: Values) {
      form.values = next;
    },
  };
}

const sent = { portion: '0.10', risk: '0.05' };
const stored = { portion: '0.1', risk: '0.05' };

test('after a save the form shows what is stored', () => {
  const typed = formWith({ ...sent });
  takeOverStored(typed, { sent, stored });
  expect(typed.form).toEqual({ values: stored, initial: stored });
});

test('what was typed while the answer was on its way stays, as unsaved', () => {
  const typed = formWith({ ...sent, risk: '0.15' });
  takeOverStored(typed, { sent, stored });
  expect(typed.form).toEqual({ values: { ...sent, risk: '0.15' }, initial: stored });
});
