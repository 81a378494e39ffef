import { Refusal } from '#server/exchanges/paper/refusals.ts';

/** Refused by a venue itself, with its exchange's code: what was settled before it stays settled. */
export class VenueRefusal extends Refusal {
  override readonly name = 'VenueRefusal';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Refused by a fault, with a code of its own or with the exchange's usual one. */
export class StruckRefusal extends Refusal {
  override readonly name = 'StruckRefusal';
  readonly code: string | undefined;
  readonly words: string | undefined;
  constructor({ code, message }: { code?: string; message?: string }) {
    super('refused by a fault');
    this.code = code;
    this.words = message;
  }
}

/** Thrown where a fault breaks the connection instead of answering. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}
