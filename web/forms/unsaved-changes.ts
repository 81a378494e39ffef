import { useEffect, useId } from 'react';

/** Ids of forms on the screen with unsaved input. */
const unsavedForms = new Set<string>();

export const loadUnsavedChangesDialog = () => import('./unsaved-changes-dialog.tsx');

let ask: (() => Promise<boolean>) | null = null;

export const hasUnsavedChanges = (): boolean => unsavedForms.size > 0;

/** Registers whether a form has unsaved input. */
export function useUnsavedChanges(isDirty: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isDirty) return;
    unsavedForms.add(id);
    // Preload: the question must appear even when the server is unreachable.
    void loadUnsavedChangesDialog().catch(() => {});
    return () => void unsavedForms.delete(id);
  }, [id, isDirty]);
}

/** For ways to leave that bypass the router (sign-out). Returns false when the user wants to stay. */
export const confirmLeaving = (): Promise<boolean> =>
  hasUnsavedChanges() && ask ? ask() : Promise.resolve(true);

/** Sets how the screen's guard asks; returns a function that undoes it. */
export function answerLeavingWith(asks: () => Promise<boolean>): () => void {
  ask = asks;
  return () => {
    if (ask === asks) ask = null;
  };
}
