import pg from 'pg';

/**
 * A connection of a pool. The pool listens to those that wait for work; who has taken one out hears of its end by the
 * next statement, which fails. In between nobody listens, and an error that nobody hears ends the program: the last
 * answer of one statement and the end of the connection may arrive in one piece while the next user is being woken.
 * (Drizzle takes a class with `Pool` in its name for a pool.)
 */
export class SharedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
