/* Without zod, so that the browser can import it. */

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface NoticeKind {
  severity: Severity;
  /** `user`: also sent to the user whom it concerns. `administrators`: sent to them only. */
  to: 'user' | 'administrators';
  /** When it is sent. */
  when: string;
  /** Names in braces are values of the event. */
  text: string;
  /** For several at once: `count` of them; `reasons` are the most frequent ones. */
  many: string;
  /** The screen that shows more, with ids of the subject, for administrators; users are led to their dashboard. */
  link: string;
  /** Collected by the cause itself (a signal's workflow), so that no second message waits for the end of a minute. */
  collected?: true;
}

/**
 * Everything that is announced. A new kind is an entry here and one `noteEvents` where it becomes true.
 * docs/notices.md is generated from this list.
 */
export const NOTICES = {
  trade_filled: {
    severity: 'info',
    to: 'user',
    when: 'An order was filled, whole or in part. One notice for all users of a signal, when its workflow ends.',
    text: 'Filled for {user}: {side} {quantity} {token} at {price}',
    many: 'Filled for {count} users ({token} {side})',
    link: '/signals?dialog=users&signal={signalId}',
    collected: true,
  },
  order_not_filled: {
    severity: 'warning',
    to: 'user',
    when: 'An order was not filled or failed. One notice for all users of a signal, when its workflow ends.',
    text: 'Order not filled for {user} ({token} {side}): {reason}',
    many: 'Order not filled for {count} users ({token} {side}): {reasons}',
    link: '/signals?dialog=users&signal={signalId}',
    collected: true,
  },
  signal_filled_nobody: {
    severity: 'warning',
    to: 'administrators',
    when: 'The workflow of a signal has ended, and no order of it was filled.',
    text: 'The signal {token} {side} filled nobody: {reasons}',
    many: '{count} signals filled nobody: {reasons}',
    link: '/signals?dialog=users&signal={signalId}',
    collected: true,
  },
  workflow_failed: {
    severity: 'critical',
    to: 'administrators',
    when: 'The workflow of a signal failed before its users were processed.',
    text: 'The workflow of {token} {side} failed: {reason}',
    many: '{count} workflows failed: {reasons}',
    link: '/automation-workflows?dialog=steps&workflow={workflowId}',
  },
  position_closed: {
    severity: 'info',
    to: 'user',
    when: 'A position was closed. Net profit is after fees; R is that profit in multiples of the planned loss.',
    text: 'Position closed for {user}: {side} {quantity} {token}, {result} ({how})',
    many: '{count} positions closed: {reasons}',
    link: '/positions',
  },
  exit_part_closed: {
    severity: 'info',
    to: 'user',
    when: 'A part of a position was closed as its exit plan says.',
    text: 'Part {part} of the exit plan closed for {user}: {quantity} {token} at {atR} R ({price}), {left} stays open',
    many: '{count} parts of exit plans were closed: {reasons}',
    link: '/positions',
  },
  exit_stop_moved: {
    severity: 'info',
    to: 'user',
    when: 'An exit plan moved a stop: to the entry, or after the price. Always towards less risk.',
    text: 'Stop moved for {user} ({token}, {what}): {reason}',
    many: '{count} stops were moved by exit plans: {reasons}',
    link: '/positions',
  },
  exit_time_closed: {
    severity: 'info',
    to: 'user',
    when: 'A position was closed because it was held as long as its exit plan permits.',
    text: 'Position closed for {user} after {minutes} minutes: {quantity} {token}',
    many: '{count} positions were closed after their longest holding: {reasons}',
    link: '/positions',
  },
  exit_not_done: {
    severity: 'warning',
    to: 'user',
    when: 'A step of an exit plan failed. The old stop stays, and the step is tried again while it is due.',
    text: 'Exit plan of {user} not carried out ({token}, {what}): {reason}',
    many: '{count} steps of exit plans failed: {reasons}',
    link: '/positions',
  },
  order_in_doubt: {
    severity: 'critical',
    to: 'user',
    when: 'No answer of the exchange settles whether an order was filled. Nothing more is sent for it.',
    text: 'Order in doubt for {user} ({token} {side}): {reason}',
    many: '{count} orders are in doubt: {reasons}',
    link: '/position-maker',
  },
  position_without_stop: {
    severity: 'critical',
    to: 'user',
    when: 'An open position has no stop loss, and it was not there again within three seconds.',
    text: 'Position without a stop for {user}: {side} {token}. {reason}',
    many: '{count} positions are without a stop: {reasons}',
    link: '/positions',
  },
  user_halted: {
    severity: 'critical',
    to: 'user',
    when: 'The engine stopped trading for a user, because a position is not safe or not as expected.',
    text: 'Trading of {user} is halted: {reason}',
    many: 'Trading of {count} users is halted: {reasons}',
    link: '/positions',
  },
  user_resumed: {
    severity: 'info',
    to: 'user',
    when: 'A halt ended.',
    text: 'Trading of {user} is resumed ({token})',
    many: 'Trading of {count} users is resumed',
    link: '/positions',
  },
  stop_set: {
    severity: 'warning',
    to: 'user',
    when: 'Somebody stopped new entries: for all, a user, a strategy or a token.',
    text: 'New entries are stopped by {by}: {scope}',
    many: 'New entries were stopped {count} times: {reasons}',
    link: '/',
  },
  stop_lifted: {
    severity: 'info',
    to: 'user',
    when: 'A stop of new entries was lifted.',
    text: 'New entries are allowed again by {by}: {scope}',
    many: '{count} stops of new entries were lifted: {reasons}',
    link: '/',
  },
  limit_reached: {
    severity: 'critical',
    to: 'user',
    when: 'A risk limit was reached; new entries are stopped.',
    text: 'Risk limit of {scope} reached: {limit} is {saw}, the limit is {maximum}',
    many: '{count} risk limits were reached: {reasons}',
    link: '/',
  },
  flatten_done: {
    severity: 'info',
    to: 'administrators',
    when: 'Closing all positions of a scope is done, without a failure.',
    text: 'All positions are closed, as {by} asked',
    many: '{count} times all positions were closed',
    link: '/positions',
  },
  key_refused: {
    severity: 'critical',
    to: 'user',
    when: 'The exchange refused an API key. Nothing is ordered with it until it is replaced.',
    text: 'API key of {user} refused: {reason}',
    many: '{count} API keys were refused: {reasons}',
    link: '/create-client',
  },
  key_expires: {
    severity: 'warning',
    to: 'user',
    when: 'An API key of Bybit ends in 14, 3 or 1 days.',
    text: 'The {exchange} API key of {user} expires in {days}, on {date}',
    many: '{count} API keys expire soon: {reasons}',
    link: '/create-client',
  },
  webhook_refused: {
    severity: 'warning',
    to: 'user',
    when: 'Deliveries to a webhook were refused. Sent with the first one, then once an hour while it goes on.',
    text: 'The webhook of {user} refuses deliveries, {count} since {since}: {reasons}',
    many: 'Deliveries to {count} webhooks were refused: {reasons}',
    link: '/configuration',
  },
  feed_late: {
    severity: 'info',
    to: 'user',
    when: 'A candle of a price feed has not come within the grace of its feed (10 % of the timeframe, at least 120 s, or as set).',
    text: 'Candles are late from {feeds}',
    many: '{count} groups of feeds are late: {reasons}',
    link: '/feeds',
  },
  feed_silent: {
    severity: 'warning',
    to: 'user',
    when: 'A price feed is two candles late.',
    text: 'No candles from {feeds}',
    many: '{count} groups of feeds are silent: {reasons}',
    link: '/feeds',
  },
  feed_recovered: {
    severity: 'info',
    to: 'user',
    when: 'A feed that was late or silent brings candles again.',
    text: 'Candles come again from {feeds}',
    many: '{count} groups of feeds are back: {reasons}',
    link: '/feeds',
  },
  sign_in_new_address: {
    severity: 'warning',
    to: 'user',
    when: 'Somebody signed in from an address where the user was not seen in the last 30 days. Not at the first sign-in.',
    text: '{user} signed in from a new address: {address}',
    many: '{count} sign-ins from new addresses: {reasons}',
    link: '/audit',
  },
  chat_unknown: {
    severity: 'warning',
    to: 'user',
    when: 'Somebody wrote to a bot that answers commands, from a chat that no channel has. It got no answer. Sent once a day.',
    text: 'The Telegram bot of the channel {channel} got a message from the unknown chat {chat} (person {person})',
    many: '{count} unknown chats wrote to Telegram bots: {reasons}',
    link: '/alerts',
  },
  instance_started: {
    severity: 'info',
    to: 'administrators',
    when: 'An instance of the program started.',
    text: 'Signal Board {version} started ({mode} mode)',
    many: '{count} instances started',
    link: '/position-maker',
  },
  instance_taken_over: {
    severity: 'critical',
    to: 'administrators',
    when: 'An instance has gone without stopping; the others take over its work, or the next start does.',
    text: 'The instance {instance} has gone without stopping (last seen {date}). Its work was taken over',
    many: '{count} instances have gone without stopping',
    link: '/position-maker',
  },
  exchange_unreachable: {
    severity: 'critical',
    to: 'administrators',
    when: 'An exchange did not answer for 30 seconds, several times in a row.',
    text: '{exchange} does not answer',
    many: '{count} times an exchange did not answer: {reasons}',
    link: '/position-maker',
  },
  exchange_recovered: {
    severity: 'info',
    to: 'administrators',
    when: 'An exchange answers again.',
    text: '{exchange} answers again',
    many: '{count} times an exchange answered again: {reasons}',
    link: '/position-maker',
  },
  database_back: {
    severity: 'critical',
    to: 'administrators',
    when: 'The database was away for more than a few seconds and is back. While it is away, nothing can be sent: use the heartbeat.',
    text: 'The database was away for {duration} and is back',
    many: 'The database was away {count} times',
    link: '/position-maker',
  },
  backup_missing: {
    severity: 'warning',
    to: 'administrators',
    when: 'No backup was written for 24 hours. Sent once a day.',
    text: 'No backup for {duration}: run npm run backup',
    many: 'No backup for a long time',
    link: '/audit',
  },
  disk_low: {
    severity: 'critical',
    to: 'administrators',
    when: 'Less than 10 % of the disk with the data folder is free. Sent once a day while it stays so.',
    text: 'Disk almost full: {percent} % free in {folder}',
    many: 'Disk almost full: {reasons}',
    link: '/position-maker',
  },
  daily_summary: {
    severity: 'info',
    to: 'user',
    when: 'After midnight in the display time zone, for users and administrators with trades on that day.',
    text: '{day}: {filled} filled, {failed} not filled, {closed} closed, net {net} USDT ({who})',
    many: '{count} daily summaries',
    link: '/positions',
  },
} as const satisfies Record<string, NoticeKind>;

export type NoticeCode = keyof typeof NOTICES;
export const NOTICE_CODES = Object.keys(NOTICES) as [NoticeCode, ...NoticeCode[]];

/** What a notice is about; the ids and names that are known. */
export interface NoticeSubject {
  userId?: string;
  username?: string;
  processor?: string;
  token?: string;
  signalId?: string;
  workflowId?: string;
  tradeId?: string;
}

/** The values of a notice's text, and lists where it is about several. */
export type NoticeData = Record<string, NoticeValue>;
type NoticeValue = string | number | boolean | null | NoticeValue[] | { [name: string]: NoticeValue };
