import { useQuery } from '@tanstack/react-query';
import type { FactorsAnswer } from '#contract/factors.ts';
import { complete, type Shape } from '../../../lib/complete-answer.ts';

export const factorsPath = '/api/auth/factors';
export const totpPath = '/api/auth/totp';
export const passkeysPath = '/api/auth/passkeys';

const SHAPE: Shape = {
  totp: ['null', { confirmedAt: 'string' }],
  passkeys: ['list', { id: 'string', name: 'string', createdAt: 'string', lastUsedAt: ['null', 'string'] }],
  recoveryCodesLeft: 'number',
  required: 'boolean',
};

/** Answers under /api/auth are completed by their readers. Without its list an answer would read as 'no passkeys'. */
function readFactors(answer: Partial<FactorsAnswer>): FactorsAnswer {
  if (!Array.isArray(answer?.passkeys)) throw new Error('The answer of the server cannot be read');
  return complete(SHAPE, answer) as FactorsAnswer;
}

/** Fetched at each opening, because factors may be changed in another browser. */
export const useFactors = () =>
  useQuery<Partial<FactorsAnswer>, Error, FactorsAnswer>({
    queryKey: [factorsPath],
    select: readFactors,
    staleTime: 0,
  });
