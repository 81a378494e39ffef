import { Refusal } from '#server/exchanges/paper/refusals.ts';

/** A refusal by the venue itself, with its exchange's code: earlier settlements are kept. */
export class VenueRefusal extends Refusal {
  override readonly name = 'VenueRefusal';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A refusal by a fault, with its own code or the exchange's usual one. */
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

/** Thrown when a fault breaks the connection instead of answering. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}
