import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';

/** A component whose code loads when it is first shown, or before: then it is there in the first frame. */
export function lazily<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  fallback: ReactNode = null,
): ComponentType<Props> & { preload: () => Promise<unknown> } {
  let loaded: ComponentType<Props> | null = null;
  const preload = async () => {
    const found = await load();
    loaded = found.default;
    return found;
  };
  const Loading: ComponentType<Props> = lazy(preload);
  const choose = () => loaded ?? Loading;
  return Object.assign((props: Props) => <Shown choose={choose} fallback={fallback} of={props} />, {
    preload,
  });
}

interface ShownProps<Props> {
  choose: () => ComponentType<Props>;
  fallback: ReactNode;
  of: Props;
}

function Shown<Props extends object>({ choose, fallback, of }: ShownProps<Props>) {
  // Chosen once: another component in its place would begin anew.
  const [Component] = useState(choose);
  return (
    <Suspense fallback={fallback}>
      <Component {...of} />
    </Suspense>
  );
}
