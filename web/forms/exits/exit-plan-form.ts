import type { Plan } from './exits-data.ts';

export const MOST_PARTS = 10;
const INDEXES = Array.from({ length: MOST_PARTS }, (_, index) => index);

export type Values = Record<`atR${number}` | `percent${number}`, string> & {
  breakEvenAtR: string;
  trailBy: 'none' | 'atrMultiple' | 'percent';
  trail: string;
  maxHoldingMinutes: string;
};

export function toValues(plan: Plan | null): Values {
  const parts = plan?.takeProfits ?? [];
  const { trail } = plan ?? {};
  return {
    ...Object.fromEntries(INDEXES.map((index) => [`atR${index}`, parts[index]?.atR ?? ''])),
    ...Object.fromEntries(INDEXES.map((index) => [`percent${index}`, String(parts[index]?.percent ?? '')])),
    breakEvenAtR: plan?.breakEvenAtR ?? '',
    trailBy: trail === undefined ? 'none' : 'atrMultiple' in trail ? 'atrMultiple' : 'percent',
    trail: trail === undefined ? '' : 'atrMultiple' in trail ? trail.atrMultiple : trail.percent,
    maxHoldingMinutes: String(plan?.maxHoldingMinutes ?? ''),
  };
}

/** The rows with anything in them. */
const filledRows = (values: Values): number[] =>
  INDEXES.filter((index) => values[`atR${index}`]?.trim() || values[`percent${index}`]?.trim());

/** As the server takes them: an empty field is left out, and what cannot be read is left to the server to refuse. */
export function toBody(values: Values): object {
  const number = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : text.trim());
  const { breakEvenAtR, trailBy, trail, maxHoldingMinutes } = values;
  return {
    takeProfits: filledRows(values).map((index) => ({
      atR: values[`atR${index}`]?.trim() ?? '',
      percent: number(values[`percent${index}`] ?? ''),
    })),
    ...(breakEvenAtR.trim() === '' ? {} : { breakEvenAtR: breakEvenAtR.trim() }),
    ...(trailBy === 'none' ? {} : { trail: { [trailBy]: trail.trim() } }),
    ...(maxHoldingMinutes.trim() === '' ? {} : { maxHoldingMinutes: number(maxHoldingMinutes) }),
  };
}

/** The fields of the form that the server refuses. What belongs to no field is shown above the buttons. */
export function errorsOf(
  errors: readonly { path: string; message: string }[],
  values: Values,
): Partial<Record<keyof Values, string>> {
  const rows = filledRows(values);
  const fieldOf = (path: string): keyof Values | null => {
    const [name, index, field] = path.split('.');
    if (name === 'takeProfits' && (field === 'atR' || field === 'percent'))
      return `${field}${rows[Number(index)] ?? 0}`;
    if (name === 'trail') return 'trail';
    return name === 'breakEvenAtR' || name === 'maxHoldingMinutes' ? name : null;
  };
  return Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const field = fieldOf(path);
      return field === null ? [] : [[field, message]];
    }),
  );
}
