/** Where the program reads the time; tests hand in one that they move themselves. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
