import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/** A component whose code loads when it is first shown. */
export function lazily<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  fallback: ReactNode = null,
): ComponentType<Props> {
  const Loaded: ComponentType<Props> = lazy(load);
  return (props) => (
    <Suspense fallback={fallback}>
      <Loaded {...props} />
    </Suspense>
  );
}
