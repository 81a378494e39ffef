import { and, eq } from 'drizzle-orm';
import { changeFeedBody, feed, feedsAnswer } from '#contract/feeds.ts';
import { idParams } from '#contract/paging.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { feeds } from '#server/platform/db/schema.ts';
import { getUser } from '#server/platform/http/access.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listFeeds } from './feeds.store.ts';

const user = routeOptions({ access: 'user', tags: ['alerts'] });

/** The series of candles that come in, and how they are watched. */
export function registerFeedRoutes(app: App, deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>): void {
  const { config, clock } = deps;
  const seenNow = () => ({ now: clock.now(), timeZone: config.displayTimezone });

  app.get('/api/feeds', user({ answer: feedsAnswer }), async (request) => ({
    feeds: await listFeeds(deps.db, { viewer: getUser(request), ...seenNow() }),
  }));

  app.put(
    '/api/feeds/:id',
    user({
      write: { stepUp: 'outsidePaper', audit: ['feed watch changed'], token: null },
      params: idParams,
      body: changeFeedBody,
      answer: feed,
    }),
    async (request) => {
      const { id } = request.params;
      const viewer = getUser(request);
      const { muted, graceSeconds, hours } = request.body;
      return await deps.db.transaction(async (tx) => {
        const find = async () =>
          required((await listFeeds(tx, { viewer, id, ...seenNow() }))[0] ?? null, 'feedNotFound');
        const before = await find();
        const set = {
          ...(muted === undefined ? {} : { muted }),
          ...(graceSeconds === undefined ? {} : { graceSeconds }),
          ...(hours === undefined ? {} : { hoursFrom: hours?.from ?? null, hoursTo: hours?.to ?? null }),
        };
        if (Object.keys(set).length > 0)
          await tx
            .update(feeds)
            .set(set)
            .where(and(eq(feeds.id, id)));
        const after = await find();
        const name = [before.token, before.timeframe, before.processor].filter(Boolean).join(' ');
        await deps.audit.record(tx, {
          actor: actorOf(request, config),
          action: 'feed watch changed',
          subject: { kind: 'feed', id, name: `${name} (${before.owner})` },
          before: watched(before),
          after: watched(after),
        });
        return after;
      });
    },
  );
}

/** For the audit trail. */
const watched = ({ state, graceSeconds, hours }: typeof feed._output) => ({
  muted: state === 'muted',
  graceSeconds,
  hours,
});
