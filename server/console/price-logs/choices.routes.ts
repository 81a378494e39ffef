import { stringList } from '#contract/price-logs.ts';
import { distinctTimeframes } from '#domain/timeframe.ts';
import type { Deps } from '#server/deps.ts';
import type { ChoiceList } from '#server/platform/db/list-totals/counted-lists.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';

/** What the filters of a list offer. */
export function registerChoiceRoutes(app: App, { db }: Pick<Deps, 'db'>, list: ChoiceList): void {
  const admin = routeOptions({ access: 'admin', tags: [list.replace('-', ' ')] });
  for (const column of ['token', 'processor', 'timeframe'] as const) {
    app.get(`/api/${list}/${column}s`, admin({ answer: stringList }), async (request) => {
      const choices = await listChoices(db, list, column, getUser(request).id);
      return column === 'timeframe' ? distinctTimeframes(choices) : choices;
    });
  }
}
