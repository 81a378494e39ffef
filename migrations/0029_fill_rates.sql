CREATE TABLE "order_changes" (
	"user_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"processor" text NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"sizing_method" text NOT NULL,
	"side" text NOT NULL,
	"orders" integer NOT NULL,
	"filled" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_totals" (
	"grain" text NOT NULL,
	"span" text NOT NULL,
	"user_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"processor" text NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"sizing_method" text NOT NULL,
	"side" text NOT NULL,
	"orders" bigint NOT NULL,
	"filled" bigint NOT NULL,
	CONSTRAINT "order_totals_pk" PRIMARY KEY("grain","span","user_id","since","processor","token","timeframe","sizing_method","side")
);
--> statement-breakpoint
CREATE INDEX "order_totals_since" ON "order_totals" USING btree ("grain","span","since");--> statement-breakpoint
CREATE INDEX "order_totals_token" ON "order_totals" USING btree ("grain","span","token","since");--> statement-breakpoint
-- ---- Written by hand from here on: functions, triggers and the trades that are there ---------------------------------

-- Orders with what their totals are made of. Partly filled ones count as filled.
CREATE VIEW counted_orders AS
SELECT trades.id, trades.user_id, trades.created_at, date_bin('15 minutes', trades.created_at, timestamptz '2000-01-01 00:00Z') AS since,
  signals.processor, trades.token, signals.timeframe,
  coalesce(logs.position ->> 'method', logs.settings ->> 'positionSizingMethod', 'unknown') AS sizing_method,
  CASE trades.side WHEN 'buy' THEN 'long' ELSE 'short' END AS side,
  (trades.completed_at IS NOT NULL)::integer AS orders,
  (trades.completed_at IS NOT NULL AND coalesce(trades.fill_status IN ('filled', 'partial'), false))::integer AS filled
FROM trades
JOIN signals ON signals.id = trades.signal_id
JOIN position_generator_logs AS logs ON logs.id = trades.position_generator_log_id;
--> statement-breakpoint
CREATE FUNCTION note_inserted_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_changes (user_id, since, processor, token, timeframe, sizing_method, side, orders, filled)
  SELECT user_id, since, processor, token, timeframe, sizing_method, side, sum(orders), sum(filled)
  FROM counted_orders WHERE id IN (SELECT id FROM changed WHERE completed_at IS NOT NULL)
  GROUP BY 1, 2, 3, 4, 5, 6, 7;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION note_ended_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_changes (user_id, since, processor, token, timeframe, sizing_method, side, orders, filled)
  SELECT user_id, since, processor, token, timeframe, sizing_method, side,
    orders - (OLD.completed_at IS NOT NULL)::integer,
    filled - (OLD.completed_at IS NOT NULL AND coalesce(OLD.fill_status IN ('filled', 'partial'), false))::integer
  FROM counted_orders WHERE id = NEW.id;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- From a restore; in operation no trade begins with its end.
CREATE TRIGGER trades_insert_orders AFTER INSERT ON trades REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_inserted_orders();
--> statement-breakpoint
-- Most updates of a trade end no order. A trade that is opened again for its stop stays completed.
CREATE TRIGGER trades_update_orders AFTER UPDATE ON trades FOR EACH ROW
  WHEN ((OLD.completed_at IS NULL) <> (NEW.completed_at IS NULL)
    OR NEW.completed_at IS NOT NULL AND NEW.fill_status IS DISTINCT FROM OLD.fill_status)
  EXECUTE FUNCTION note_ended_order();
--> statement-breakpoint
INSERT INTO order_changes (user_id, since, processor, token, timeframe, sizing_method, side, orders, filled)
SELECT user_id, since, processor, token, timeframe, sizing_method, side, sum(orders), sum(filled)
FROM counted_orders WHERE orders = 1
GROUP BY 1, 2, 3, 4, 5, 6, 7;
