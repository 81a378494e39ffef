import nodemailer from 'nodemailer';
import type { ChannelConfig } from '#contract/notification-channels.ts';
import { lookupOf, resolveChecked } from './checked-address.ts';
import { failureText, orAbort, SEND_TIMEOUT_MS, type SendOptions, type SendResult } from './send-http.ts';

interface Mail {
  /** Stable over all tries. */
  id: string;
  subject: string;
  text: string;
}

/** Sends one mail to a server whose address was checked. A password is sent over TLS only, unless private servers are allowed. */
export async function sendEmail(
  { host, port, secure, username, password, from, to }: Extract<ChannelConfig, { kind: 'email' }>,
  { id, subject, text }: Mail,
  { clock, allowPrivate, resolve, signal: stop, timeoutMs = SEND_TIMEOUT_MS }: SendOptions,
): Promise<SendResult> {
  const timeout = clock.deadline(timeoutMs);
  const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
  try {
    const checked = await orAbort(resolveChecked(host, { allowPrivate, resolve }), signal);
    const [first] = checked;
    const transport = nodemailer.createTransport({
      // The address itself, so that nothing resolves the name again.
      host: first?.address ?? host,
      port,
      secure,
      requireTLS: !secure && username !== undefined && !allowPrivate,
      tls: { servername: host, lookup: lookupOf(checked) },
      ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      logger: false,
    });
    try {
      const mail = { from, to, subject, text, messageId: `<${id}@signal-board>` };
      await orAbort(transport.sendMail(mail), signal);
      return { ok: true, detail: 'Accepted by the mail server' };
    } finally {
      transport.close();
    }
  } catch (error) {
    return { ok: false, detail: mailFailure(error, timeoutMs) };
  }
}

function mailFailure(error: unknown, timeoutMs: number): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  const answered = responseCode === undefined ? '' : ` (${responseCode})`;
  if (code === 'EAUTH') return `The mail server refused the sign-in${answered}`;
  if (code === 'EENVELOPE') return `The mail server refused sender or recipient${answered}`;
  if (code === 'ETLS') return 'The mail server offers no encrypted connection';
  if (responseCode !== undefined) return `The mail server refused the mail${answered}`;
  if (code === 'ESOCKET' || code === 'ECONNECTION') {
    const { cause, message } = error as { cause?: unknown; message?: string };
    if (cause !== undefined) return failureText(cause, timeoutMs);
    return /certificate|SSL|TLS/i.test(message ?? '')
      ? 'The certificate of the mail server was not accepted'
      : 'The mail server could not be reached';
  }
  return failureText(error, timeoutMs);
}
