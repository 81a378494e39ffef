import type { RefusalReason, RefusalWords } from '#server/exchanges/paper/refusals.ts';
import { bitgetAnswers } from '../bitget/bitget.ts';
import { authenticateBitgetRequest } from '../bitget/signature.ts';
import { createDialect, type DialectOptions, type VenueDialect } from '../dialect.ts';
import { VenueRefusal } from '../refusals.ts';
import { unifiedOperations } from './operations.ts';
import { parametersOf } from './parameters.ts';
import { BITGET_UNIFIED_PRIVATE } from './private.ts';

/** Bitget's v3 REST dialect for USDT futures of unified accounts; prices and contracts are read as v2. */
export const createBitgetUnifiedDialect = (options: DialectOptions): VenueDialect =>
  createDialect(options, {
    ...bitgetAnswers,
    platform: 'Bitget',
    keyHeader: 'access-key',
    operationsOf: unifiedOperations,
    publicRoutes: {},
    privateRoutes: BITGET_UNIFIED_PRIVATE,
    parametersOf,
    unknownSymbol: ({ symbol = 'symbol' }) => new VenueRefusal('25100', `Symbol ${symbol} does not exist`),
    bookRefusal: ({ kind }) => REFUSALS[kind],
    authenticate(call) {
      const userId = authenticateBitgetRequest(call);
      if (options.books.keyOf(userId).accountMode === 'unified') return userId;
      throw new VenueRefusal(
        '40084',
        'You are in Classic Account mode, and the Unified Account API is not supported',
      );
    },
  });

/** Where the list of v3 has a code of its own; for all others v3 answers those of v2. */
const REFUSALS: Partial<Record<RefusalReason['kind'], RefusalWords>> = {
  'position-mode': { code: '25236', message: 'The position side does not match the holding mode' },
  'duplicate-client-order-id': { code: '25212', message: 'Duplicate clientOid' },
  'no-position': { code: '25227', message: 'No position to close' },
  balance: { code: '25203', message: 'Insufficient margin' },
  'below-minimum-quantity': { code: '25611', message: 'Less than the minimum order quantity' },
  'order-unknown': { code: '25204', message: 'Order does not exist' },
  'order-ended': { code: '25204', message: 'Order does not exist' },
};
