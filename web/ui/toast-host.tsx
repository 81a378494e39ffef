import { useEffect, useSyncExternalStore } from 'react';
import { toastViewport } from './toast.ts';

/**
 * Mounted once beside the screens. It loads the toasts as soon as a screen stands, and not with the first toast:
 * that one may be about a server that cannot be reached.
 */
export function ToastHost() {
  const Viewport = useSyncExternalStore(toastViewport.subscribe, toastViewport.current);
  useEffect(() => {
    const start = () => void toastViewport.load().catch(() => {});
    if (document.readyState === 'complete') return start();
    window.addEventListener('load', start, { once: true });
    return () => window.removeEventListener('load', start);
  }, []);
  return Viewport ? <Viewport /> : null;
}
