import { useEffect, useId } from 'react';

/** The forms on the screen that hold something typed and not saved. */
const unsavedForms = new Set<string>();

export const loadUnsavedChangesDialog = () => import('./unsaved-changes-dialog.tsx');

let ask: (() => Promise<boolean>) | null = null;

export const hasUnsavedChanges = (): boolean => unsavedForms.size > 0;

/** A form says here whether it holds something that leaving would lose. */
export function useUnsavedChanges(isDirty: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isDirty) return;
    unsavedForms.add(id);
    // Before it is needed: a server that goes away must not keep it from asking.
    void loadUnsavedChangesDialog().catch(() => {});
    return () => void unsavedForms.delete(id);
  }, [id, isDirty]);
}

/** For ways to leave that the router does not see (sign-out); false when the user wants to stay. */
export const confirmLeaving = (): Promise<boolean> =>
  hasUnsavedChanges() && ask ? ask() : Promise.resolve(true);

/** The guard of the screen says how it asks; answers how to take that back. */
export function answerLeavingWith(asks: () => Promise<boolean>): () => void {
  ask = asks;
  return () => {
    if (ask === asks) ask = null;
  };
}
