import type { AuditSubject } from './audit-trail.ts';

export const aboutUser = ({ id, username }: { id: string; username: string }): AuditSubject => ({
  kind: 'user',
  id,
  name: username,
});

/** A webhook's name says little without its owner. */
export const aboutWebhook = ({ id, name }: { id: string; name: string }, owner: string): AuditSubject => ({
  kind: 'webhook',
  id,
  name: `${name} (${owner})`,
});

/** `owner`: the user's name. */
export const aboutTrade = ({ id, token }: { id: string; token: string }, owner: string): AuditSubject => ({
  kind: 'trade',
  id,
  name: `${token} (${owner})`,
});
