interface Follow<Values> {
  values: Values;
  /** What the form started from. */
  initial: Values;
  /** What is stored by now. */
  stored: Values;
  /** Fields whose meaning the first one decides: where it has changed, all of them are taken over or none. */
  together?: readonly (keyof Values)[] | undefined;
}

interface Followed<Values> {
  /** What the fields that nobody touched take over. */
  taken: Partial<Values>;
  /** Fields that were changed here and elsewhere: they keep what was entered. */
  kept: (keyof Values)[];
}

/** What a form makes of it when what it shows has been changed elsewhere. */
export function followStored<Values extends object>(follow: Follow<Values>): Followed<Values> {
  const { values, initial, stored } = follow;
  const taken: Partial<Values> = {};
  const kept: (keyof Values)[] = [];
  for (const unit of unitsOf(follow)) {
    const isChanged = (name: keyof Values) => stored[name] !== initial[name];
    if (!unit.some(isChanged)) continue;
    const isTouched = unit.some((name) => values[name] !== initial[name]);
    if (isTouched) kept.push(...unit.filter((name) => isChanged(name) && stored[name] !== values[name]));
    else for (const name of unit) taken[name] = stored[name];
  }
  return { taken, kept };
}

/** With the stored value of a field come those that mean nothing without it. */
export function withTheirUnit<Values extends object>(
  names: readonly (keyof Values)[],
  form: Omit<Follow<Values>, 'stored'>,
): (keyof Values)[] {
  const units = unitsOf({ ...form, stored: form.initial });
  return units.filter((unit) => unit.some((name) => names.includes(name))).flat();
}

function unitsOf<Values extends object>(follow: Follow<Values>): (keyof Values)[][] {
  const { values, initial, stored, together = [] } = follow;
  const names = Object.keys(initial) as (keyof Values)[];
  const [first] = together;
  const isOne = first !== undefined && (values[first] !== initial[first] || stored[first] !== initial[first]);
  if (!isOne) return names.map((name) => [name]);
  return [[...together], ...names.filter((name) => !together.includes(name)).map((name) => [name])];
}
