import { IconCalculator } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { shortId } from '../../lib/format.ts';
import classes from './signals-table.module.css';

const CALCULATOR_PATH = '/position-calculator';

/** Whether the program has the calculator's screen. */
export function useHasCalculator(): boolean {
  return Object.hasOwn(useRouter().routesByPath, CALCULATOR_PATH);
}

/** A plain anchor that stays in the page: a hundred rows of router links are slower to show. */
export function CalculatorLink({ signalId }: { signalId: string }) {
  const router = useRouter();
  const href = `${CALCULATOR_PATH}?signalId=${encodeURIComponent(signalId)}`;
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void router.navigate({ href });
  };
  return (
    <a
      className={classes.calculator}
      href={href}
      onClick={follow}
      aria-label={`Calculator for signal ${shortId(signalId, 9)}`}
      data-tip="Position Calculator"
    >
      <IconCalculator size={16} aria-hidden />
    </a>
  );
}
