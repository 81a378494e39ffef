CREATE TABLE "risk_breaches" (
	"id" uuid PRIMARY KEY NOT NULL,
	"scope_kind" text NOT NULL,
	"scope_value" text NOT NULL,
	"limit" text NOT NULL,
	"saw" text NOT NULL,
	"maximum" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone,
	"closes" boolean NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ended_by" uuid
);
--> statement-breakpoint
CREATE TABLE "risk_limits" (
	"scope_kind" text NOT NULL,
	"scope_value" text NOT NULL,
	"limits" jsonb NOT NULL,
	"drawdown_since" timestamp (3) with time zone NOT NULL,
	"losses_since" timestamp (3) with time zone NOT NULL,
	"day_reset" jsonb,
	"peak" jsonb,
	"watched" jsonb,
	"watched_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "risk_limits_scope_kind_scope_value_pk" PRIMARY KEY("scope_kind","scope_value")
);
--> statement-breakpoint
CREATE TABLE "strategies" (
	"strategy" text PRIMARY KEY NOT NULL,
	"max_signal_age_seconds" integer,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "risk_breaches" ADD CONSTRAINT "risk_breaches_ended_by_users_id_fk" FOREIGN KEY ("ended_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "risk_breaches_one_open" ON "risk_breaches" USING btree ("scope_kind","scope_value","limit") WHERE ended_at is null;
--> statement-breakpoint
-- ---- Written by hand: what limits count, and what entries are checked against ------------------------------------

-- Positions of ours and entries that may still fill. Money in USDT, strategies in the form in which they are compared.
CREATE VIEW open_entries AS
SELECT trades.id AS trade_id, trades.user_id, trades.exchange_platform, trades.token, trades.side,
  lower(btrim(signals.processor)) AS strategy,
  CASE WHEN trades.state = 'done' THEN trades.filled_quantity
    ELSE greatest(trades.planned_quantity, trades.filled_quantity) END AS quantity,
  trades.filled_quantity,
  coalesce(held."markPrice", trades.average_price, trades.entry_price) AS price,
  coalesce(held."stopLoss", trades.stop_loss) AS stop_loss,
  held."openProfit" AS open_profit,
  coalesce(trades.completed_at, trades.created_at) AS since,
  account.positions_at
FROM trades
JOIN signals ON signals.id = trades.signal_id
LEFT JOIN account_figures AS account
  ON account.user_id = trades.user_id AND account.exchange_platform = trades.exchange_platform
LEFT JOIN LATERAL jsonb_to_recordset(account.positions)
  AS held ("tradeId" uuid, "markPrice" numeric, "stopLoss" numeric, "openProfit" numeric)
  ON held."tradeId" = trades.id
WHERE trades.position_closed_at IS NULL
  AND (trades.state <> 'done' OR trades.fill_status IN ('filled', 'partial'))
  AND trades.protection_status IS DISTINCT FROM 'closed';
--> statement-breakpoint
-- The last known equity of active users in each mode, in USDT, and the strategy of their settings.
CREATE VIEW known_equities AS
SELECT account.user_id, account.exchange_mode, lower(btrim(user_settings.signal_processor)) AS follows,
  sum(account.equity) AS equity, min(account.equity_at) AS equity_at
FROM account_figures AS account
JOIN users ON users.id = account.user_id
JOIN user_settings ON user_settings.user_id = account.user_id
WHERE users.is_active AND account.equity IS NOT NULL
GROUP BY account.user_id, account.exchange_mode, user_settings.signal_processor;
--> statement-breakpoint
-- `wanted`: {"entries": [{"userId", "signalId"}], "now", "mode"}. Null when no limits concern them.
-- First it locks the rows of the limits, so that entries of one scope are checked one after the other on all
-- instances; each statement of a volatile function then sees what was committed while it waited.
CREATE FUNCTION risk_figures(wanted jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  as_of constant timestamptz := (wanted->>'now')::timestamptz;
  own_users uuid[];
  processors jsonb;
  strategies text[];
  counts_others boolean;
BEGIN
  SELECT array_agg(DISTINCT entry."userId"), jsonb_object_agg(entry."signalId", signals.processor),
    array_agg(DISTINCT lower(btrim(signals.processor)))
  INTO own_users, processors, strategies
  FROM jsonb_to_recordset(wanted->'entries') AS entry ("userId" uuid, "signalId" uuid)
  JOIN signals ON signals.id = entry."signalId";

  SELECT bool_or(locked.scope_kind <> 'user') INTO counts_others
  FROM (
    SELECT scope_kind FROM risk_limits
    WHERE scope_kind = 'program'
      OR (scope_kind = 'strategy' AND scope_value = ANY (strategies))
      OR (scope_kind = 'user' AND scope_value = ANY (own_users::text[]))
    ORDER BY scope_kind, scope_value
    FOR UPDATE
  ) AS locked;
  IF counts_others IS NULL THEN
    RETURN NULL;
  END IF;

  RETURN jsonb_build_object(
    'processors', processors,
    'limits', (
      SELECT jsonb_agg(jsonb_build_object(
        'scope', jsonb_build_object('kind', scope_kind, 'value', scope_value),
        'limits', limits,
        'unknown', watched->'unknown',
        'watchedAt', watched_at,
        'breaches', (
          SELECT jsonb_agg(jsonb_build_object('limit', "limit", 'saw', saw, 'maximum', maximum, 'until', until))
          FROM risk_breaches AS breach
          WHERE breach.scope_kind = risk_limits.scope_kind AND breach.scope_value = risk_limits.scope_value
            AND ended_at IS NULL AND (until IS NULL OR until > as_of)))
        ORDER BY scope_kind, scope_value)
      FROM risk_limits
      WHERE scope_kind = 'program'
        OR (scope_kind = 'strategy' AND scope_value = ANY (strategies))
        OR (scope_kind = 'user' AND scope_value = ANY (own_users::text[]))),
    'open', (
      SELECT jsonb_agg(jsonb_build_object(
        'userId', user_id, 'strategy', strategy, 'token', token, 'side', side,
        'quantity', quantity::text, 'price', price::text, 'stopLoss', stop_loss::text))
      FROM open_entries WHERE counts_others OR user_id = ANY (own_users)),
    'counts', (
      SELECT jsonb_agg(recent) FROM (
        SELECT trades.user_id AS "userId", lower(btrim(signals.processor)) AS strategy, count(*)::int AS entries
        FROM trades JOIN signals ON signals.id = trades.signal_id
        WHERE trades.created_at > as_of - interval '60 seconds'
          AND (counts_others OR trades.user_id = ANY (own_users))
        GROUP BY 1, 2) AS recent),
    'equities', (
      SELECT jsonb_agg(jsonb_build_object('userId', user_id, 'equity', equity::text, 'follows', follows))
      FROM known_equities
      WHERE exchange_mode = wanted->>'mode' AND equity_at > as_of - interval '3 hours'
        AND (counts_others OR user_id = ANY (own_users)))
  );
END
$$;

