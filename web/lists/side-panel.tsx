import { CloseButton, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { AT_ONCE, PHONE } from './row-panel.ts';
import classes from './side-panel.module.css';

interface SidePanelProps {
  /** Names the row, such as 'BTC Sell, 13:38:12'. */
  title: string;
  subtitle: ReactNode;
  /** Shown before the title. */
  icon: ReactNode;
  /** Shown below the title. */
  status: ReactNode;
  /** What the rows are, such as 'signal'. */
  noun: string;
  /** Undefined at an end of the list. */
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onClose: () => void;
  tabs?: ReactNode;
  children: ReactNode;
  foot: ReactNode;
}

/** Where it pushes the list. In narrower windows it lies over it as a drawer, and fills a phone. */
const BESIDE = '(min-width: 80em)';
const WIDTH_PX = 416;

/** One row of a list in detail, beside the list. Esc closes it; J and K walk through the rows. */
export function SidePanel(props: SidePanelProps) {
  const isBeside = useMediaQuery(BESIDE, false, AT_ONCE);
  const isPhone = useMediaQuery(PHONE, false, AT_ONCE);
  if (isBeside) return <Beside {...props} />;
  return (
    <Drawer.Root
      opened
      onClose={props.onClose}
      position="right"
      size={isPhone ? '100%' : WIDTH_PX}
      transitionProps={{ duration: 120 }}
    >
      <Drawer.Overlay />
      <Drawer.Content data-scroll-lock data-row-panel aria-label={props.title}>
        <div className={classes.drawer}>
          <Content {...props} />
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Beside(props: SidePanelProps) {
  const panel = useRef<HTMLElement>(null);
  const closeOnEscape = useEffectEvent((event: KeyboardEvent) => {
    const isElsewhere = document.querySelector('[role="dialog"], [role="menu"]') !== null;
    if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) props.onClose();
  });
  useEffect(() => {
    const from = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    const listen = (event: KeyboardEvent) => closeOnEscape(event);
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
      const isLost = document.activeElement === document.body || document.activeElement === null;
      if (isLost && from instanceof HTMLElement) from.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside ref={panel} className={classes.panel} data-side-panel tabIndex={-1} aria-label={props.title}>
      <Content {...props} />
    </aside>
  );
}

function Content(props: SidePanelProps) {
  const { title, subtitle, icon, status, noun, onPrevious, onNext, onClose, tabs, children, foot } = props;
  return (
    <>
      <div className={classes.head}>
        {icon}
        <div className={classes.names}>
          {/* Takes the focus of the drawer, instead of the first button. */}
          <h2 className={classes.title} tabIndex={-1} data-autofocus>
            {title}
          </h2>
          <p className={classes.subtitle}>{subtitle}</p>
        </div>
        <div className={classes.buttons}>
          <Step label={`Previous ${noun}`} letter="K" step="previous" onStep={onPrevious} />
          <Step label={`Next ${noun}`} letter="J" step="next" onStep={onNext} />
          <CloseButton aria-label="Close panel" data-tip="Close panel" onClick={onClose} />
        </div>
      </div>
      <div className={classes.status}>{status}</div>
      {tabs}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className={classes.body} tabIndex={0} aria-label={`Details of the ${noun}`}>
        {children}
      </section>
      <div className={classes.foot}>
        {foot}
        <span className={classes.hint}>Esc closes</span>
      </div>
    </>
  );
}

function Step(props: { label: string; letter: string; step: string; onStep: (() => void) | undefined }) {
  const { label, letter, step, onStep } = props;
  return (
    <button
      type="button"
      className={classes.step}
      aria-label={label}
      data-tip={`${label} (${letter})`}
      data-row-step={step}
      disabled={onStep === undefined}
      onClick={onStep}
    >
      {letter}
    </button>
  );
}
