import type { BrowserContext } from '@playwright/test';

/** A call that a test makes fail on purpose; the browser reports it on its console. */
export interface ExpectedFailure {
  /** What the path of the address starts with. */
  path: string;
  /** The answer's status, or 'network' for a call that got no answer, or that of a server about to end. */
  status: number | 'network';
}

/** How a page of the program fails whose code could not be loaded. */
const LOST_CODE = 'Failed to fetch dynamically imported module';

interface Problem {
  text: string;
  path: string;
}

/** How the browser finds out that nobody is signed in. */
const SIGNED_OUT_LOOKUP: ExpectedFailure = { path: '/api/auth/user', status: 401 };

/** Collects what must not happen in a journey: console errors, violations of the content policy, exceptions. */
export interface BrowserProblems {
  watch(context: BrowserContext): void;
  /** From now on, and for what has already happened. */
  expectFailure(failure: ExpectedFailure): void;
  unexpected(): string[];
}

export function collectBrowserProblems(): BrowserProblems {
  const expected = [SIGNED_OUT_LOOKUP];
  const problems: Problem[] = [];
  return {
    watch(context) {
      context.on('console', (message) => {
        if (message.type() !== 'error') return;
        problems.push({ text: message.text(), path: pathOf(message.location().url) });
      });
      context.on('weberror', (webError) => {
        const error = webError.error();
        problems.push({ text: `Uncaught ${error.stack ?? error.message}`, path: '' });
      });
    },
    expectFailure: (failure) => void expected.push(failure),
    unexpected: () =>
      problems
        .filter((problem) => !expected.some((failure) => isExpected(problem, failure)))
        .map(({ text, path }) => `${path} ${text}`),
  };
}

function isExpected({ text, path }: Problem, failure: ExpectedFailure): boolean {
  if (!path.startsWith(failure.path)) return false;
  const isAnswer = (status: number) =>
    text.startsWith(`Failed to load resource: the server responded with a status of ${status} `);
  if (failure.status !== 'network') return isAnswer(failure.status);
  // A server that is about to end answers 503 to what still gets through.
  return text.startsWith('Failed to load resource: net::') || text.includes(LOST_CODE) || isAnswer(503);
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname : url);
