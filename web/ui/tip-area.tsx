import {
  type FocusEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import classes from './tip-area.module.css';

interface Tip {
  owner: Element;
  text: string;
  left: number;
  top: number;
  place: 'above' | 'below' | 'beside';
}

/** Up to this width, what has `data-tip-if-narrow` shows an icon without its name. */
const NARROW_PX = 64;

/**
 * One tooltip for all descendants with `data-tip`. A tooltip component per cell of a hundred rows makes the table
 * several times slower to show. With `data-tip-if-narrow` it appears beside the owner, and only if that is narrow.
 */
export function TipArea({ children }: { children: ReactNode }) {
  const [tip, setTip] = useState<Tip | null>(null);
  const described = useRef<Element | null>(null);
  const id = useId();

  const hide = () => {
    described.current?.removeAttribute('aria-describedby');
    described.current = null;
    setTip(null);
  };

  const show = (event: PointerEvent | FocusEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    const owner = target?.closest('[data-tip]') ?? target?.querySelector(':scope > [data-tip]');
    const text = owner?.getAttribute('data-tip');
    if (!owner || !text) return hide();
    const box = owner.getBoundingClientRect();
    const beside = owner.hasAttribute('data-tip-if-narrow');
    if (beside && box.width > NARROW_PX) return hide();
    described.current?.removeAttribute('aria-describedby');
    described.current = target?.closest('button, a') ?? owner;
    described.current.setAttribute('aria-describedby', id);
    const shared = { owner, text };
    if (beside) {
      setTip({ ...shared, place: 'beside', left: box.right + 10, top: box.top + box.height / 2 });
      return;
    }
    const middle = box.left + box.width / 2;
    const left = Math.min(Math.max(middle, 150), window.innerWidth - 150);
    if (box.top < 90) setTip({ ...shared, place: 'below', left, top: box.bottom + 6 });
    else setTip({ ...shared, place: 'above', left, top: box.top - 6 });
  };

  // Follow text changes while the tooltip is open.
  const owner = tip?.owner ?? null;
  useEffect(() => {
    if (!owner) return;
    const follow = () => {
      const text = owner.getAttribute('data-tip');
      setTip((shown) => (shown && text ? { ...shown, text } : null));
    };
    const observer = new MutationObserver(follow);
    observer.observe(owner, { attributes: true, attributeFilter: ['data-tip'] });
    return () => observer.disconnect();
  }, [owner]);

  useEffect(() => {
    if (!tip) return;
    const close = (event: Event) => {
      if (event.type !== 'keydown' || (event as KeyboardEvent).key === 'Escape') setTip(null);
    };
    window.addEventListener('scroll', close, true);
    window.addEventListener('keydown', close);
    return () => {
      window.removeEventListener('scroll', close, true);
      window.removeEventListener('keydown', close);
    };
  }, [tip]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches what its focusable content does
    <div onPointerOver={show} onPointerLeave={hide} onFocus={show} onBlur={hide}>
      {children}
      {tip ? (
        <div
          id={id}
          role="tooltip"
          className={classes.tip}
          data-place={tip.place}
          style={{ left: tip.left, top: tip.top }}
        >
          {tip.text}
        </div>
      ) : null}
    </div>
  );
}
