import { useEffect, useEffectEvent, useRef, useState } from 'react';

/** Long enough to avoid a request per letter, short enough to feel immediate. */
const PAUSE_MS = 300;

interface PausingText {
  text: string;
  setText: (text: string) => void;
  /** Does not wait for a pause. */
  ask: (text: string) => void;
}

/** The text of a filter while it is typed; `onPause` gets it, trimmed, when the typing pauses. */
export function usePausingText(options: { value: string; onPause: (text: string) => void }): PausingText {
  const { value, onPause } = options;
  const [text, setText] = useState(value);
  /** The last searched value; a different `value` was set elsewhere, such as by the browser's Back. */
  const asked = useRef(value);

  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);

  const ask = (next: string) => {
    const trimmed = next.trim();
    if (trimmed === asked.current) return;
    asked.current = trimmed;
    onPause(trimmed);
  };
  const askAfterPause = useEffectEvent(ask);
  useEffect(() => {
    const timer = setTimeout(() => askAfterPause(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  return { text, setText, ask };
}
