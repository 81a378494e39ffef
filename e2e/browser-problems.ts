import type { BrowserContext } from '@playwright/test';

/** A call that a test makes fail on purpose; the browser logs it on its console. */
export interface ExpectedFailure {
  /** A prefix of the URL's path. */
  path: string;
  /** The response status, or 'network' for a call without a response or answered by a server that is shutting down. */
  status: number | 'network';
}

/** The browser's error when the code of a page cannot be loaded. */
const LOST_CODE = 'Failed to fetch dynamically imported module';

interface Problem {
  text: string;
  path: string;
}

/** The call by which the page finds out that nobody is signed in. */
const SIGNED_OUT_LOOKUP: ExpectedFailure = { path: '/api/auth/user', status: 401 };
/** The browser asks for the icon on its own at navigations, also while a test has stopped the server. */
const ICON_OF_STOPPED_SERVER: ExpectedFailure = { path: '/icon.svg', status: 'network' };

/** Collects problems that fail a journey: console errors, content policy violations, exceptions. */
export interface BrowserProblems {
  watch(context: BrowserContext): void;
  /** Applies to past problems too. */
  expectFailure(failure: ExpectedFailure): void;
  unexpected(): string[];
}

export function collectBrowserProblems(): BrowserProblems {
  const expected = [SIGNED_OUT_LOOKUP, ICON_OF_STOPPED_SERVER];
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
  // A server that is shutting down answers 503 to calls that still reach it.
  return text.startsWith('Failed to load resource: net::') || text.includes(LOST_CODE) || isAnswer(503);
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname : url);
