import { type ReactNode, useEffect, useRef, useState } from 'react';
import { LoadingState } from './states.tsx';

interface NearScreenProps {
  /** The place kept for the children, so that what stands below does not seem near; not more than they take at least. */
  minHeight?: number;
  children: ReactNode;
}

/** Shows its children once they are near the screen, so that a page loads without what lies far below. */
export function NearScreen({ minHeight = 200, children }: NearScreenProps) {
  const place = useRef<HTMLDivElement>(null);
  const [wasNear, setWasNear] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setWasNear(true);
      },
      { rootMargin: '50px' },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  if (wasNear) return children;
  return (
    <div ref={place}>
      <LoadingState isLine minHeight={minHeight} />
    </div>
  );
}
