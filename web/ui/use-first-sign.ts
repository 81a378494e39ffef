import { useEffect } from 'react';

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'input'] as const;

/** Once, with the first sign that somebody uses the page. The function must not change. */
export function useFirstSign(prepare: () => void): void {
  useEffect(() => {
    const stop = () => {
      for (const sign of SIGNS) document.removeEventListener(sign, start);
    };
    const start = () => {
      stop();
      prepare();
    };
    for (const sign of SIGNS) document.addEventListener(sign, start);
    return stop;
  }, [prepare]);
}
