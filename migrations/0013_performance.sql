CREATE TABLE "performance_totals" (
	"grain" text NOT NULL,
	"span" text NOT NULL,
	"user_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"processor" text NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"sizing_method" text NOT NULL,
	"side" text NOT NULL,
	"trades" bigint NOT NULL,
	"known_net" bigint NOT NULL,
	"known_gross" bigint NOT NULL,
	"known_fees" bigint NOT NULL,
	"known_funding" bigint NOT NULL,
	"known_r" bigint NOT NULL,
	"wins" bigint NOT NULL,
	"losses" bigint NOT NULL,
	"net" numeric NOT NULL,
	"won" numeric NOT NULL,
	"lost" numeric NOT NULL,
	"gross" numeric NOT NULL,
	"fees" numeric NOT NULL,
	"funding" numeric NOT NULL,
	"r" numeric NOT NULL,
	"risked_net" numeric NOT NULL,
	"planned_loss" numeric NOT NULL,
	"best" numeric,
	"worst" numeric,
	"holding_ms" numeric NOT NULL,
	"r_histogram" numeric NOT NULL,
	"slippage_signal_histogram" numeric NOT NULL,
	"slippage_entry_histogram" numeric NOT NULL,
	"holding_histogram" numeric NOT NULL,
	CONSTRAINT "performance_totals_pk" PRIMARY KEY("grain","span","user_id","since","processor","token","timeframe","sizing_method","side")
) PARTITION BY LIST ("grain");
--> statement-breakpoint
DO $$
DECLARE
  grain text;
  span text;
BEGIN
  FOREACH grain IN ARRAY ARRAY['all', 'user', 'detail', 'user detail'] LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF performance_totals FOR VALUES IN (%L) PARTITION BY LIST (span)',
      'performance_totals_' || replace(grain, ' ', '_'), grain);
    FOREACH span IN ARRAY ARRAY['hour', 'day', 'month'] LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (%L)',
        'performance_totals_' || replace(grain, ' ', '_') || '_' || span,
        'performance_totals_' || replace(grain, ' ', '_'), span);
    END LOOP;
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE TABLE "trade_results" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trade_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"processor" text NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"sizing_method" text NOT NULL,
	"side" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone NOT NULL,
	"net" numeric,
	"gross" numeric,
	"fees" numeric,
	"funding" numeric,
	"planned_loss" numeric,
	"r" numeric,
	"slippage_signal" numeric,
	"slippage_entry" numeric,
	"holding_ms" bigint,
	"r_histogram" numeric NOT NULL,
	"slippage_signal_histogram" numeric NOT NULL,
	"slippage_entry_histogram" numeric NOT NULL,
	"holding_histogram" numeric NOT NULL
);
--> statement-breakpoint
ALTER TABLE "closed_positions" ADD COLUMN "funding" numeric;--> statement-breakpoint
CREATE INDEX "performance_totals_since" ON "performance_totals" USING btree ("since");--> statement-breakpoint
CREATE INDEX "performance_totals_token" ON "performance_totals" USING btree ("token","since");--> statement-breakpoint
CREATE INDEX "trade_results_closed" ON "trade_results" USING btree ("closed_at","id");--> statement-breakpoint
CREATE INDEX "trade_results_user" ON "trade_results" USING btree ("user_id","closed_at","id");--> statement-breakpoint
CREATE INDEX "trade_results_net" ON "trade_results" USING btree ("net","id");--> statement-breakpoint
CREATE INDEX "trade_results_r" ON "trade_results" USING btree ("r","id");--> statement-breakpoint
-- ---- Written by hand from here on: functions, triggers and the rows of closed positions that are there --------------

-- A histogram of one value: eight digits a bin, bins as in domain/results/histograms.ts. An edge belongs to the bin below.
CREATE FUNCTION histogram_of(value numeric, edges numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN value IS NULL THEN 0 ELSE ('1e' || 8 * width_bucket(value - 0.0000001, edges))::numeric END
$$;
--> statement-breakpoint
CREATE FUNCTION r_histogram_of(value numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT histogram_of(value, '{-2.75,-2.25,-1.75,-1.25,-0.75,-0.25,0.25,0.75,1.25,1.75,2.25,2.75,3.25,3.75,4.25,4.75}'::numeric[])
$$;
--> statement-breakpoint
CREATE FUNCTION slippage_histogram_of(value numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT histogram_of(value, '{-200,-190,-180,-170,-160,-150,-140,-130,-120,-110,-100,-90,-80,-70,-60,-50,-48,-46,-44,-42,-40,-38,-36,-34,-32,-30,-28,-26,-24,-22,-20,-18,-16,-14,-12,-10,-9.5,-9,-8.5,-8,-7.5,-7,-6.5,-6,-5.5,-5,-4.5,-4,-3.5,-3,-2.5,-2,-1.9,-1.8,-1.7,-1.6,-1.5,-1.4,-1.3,-1.2,-1.1,-1,-0.9,-0.8,-0.7,-0.6,-0.5,-0.4,-0.3,-0.2,-0.1,0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2,2.5,3,3.5,4,4.5,5,5.5,6,6.5,7,7.5,8,8.5,9,9.5,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,60,70,80,90,100,110,120,130,140,150,160,170,180,190,200}'::numeric[])
$$;
--> statement-breakpoint
CREATE FUNCTION holding_histogram_of(value numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT histogram_of(value, '{1,5,15,30,60,120,240,480,720,1440,2880,10080,43200}'::numeric[])
$$;
--> statement-breakpoint
-- Positive when the fill was worse than the wanted price.
CREATE FUNCTION slippage_bps(side text, fill numeric, wanted numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT round((CASE side WHEN 'long' THEN fill - wanted ELSE wanted - fill END) * 10000 / nullif(wanted, 0), 4)
$$;
--> statement-breakpoint
-- The result of each closed position as its row in trade_results.
CREATE FUNCTION trade_results_of(positions closed_positions[]) RETURNS SETOF trade_results LANGUAGE sql STABLE AS $$
  WITH known AS (
    SELECT position.*, signals.processor, signals.timeframe,
      coalesce(logs.position ->> 'method', logs.settings ->> 'positionSizingMethod', 'unknown') AS sizing_method,
      position.realised_profit - position.fees AS net,
      position.realised_profit - position.funding AS gross,
      nullif(abs(trades.entry_price - trades.stop_loss) * position.quantity, 0) AS planned_loss,
      slippage_bps(position.side, position.entry_price, signals.price) AS slippage_signal,
      slippage_bps(position.side, position.entry_price, trades.entry_price) AS slippage_entry,
      CASE WHEN position.close_price IS NOT NULL
        THEN greatest(0, round(extract(epoch FROM position.closed_at - position.opened_at) * 1000)) END::bigint AS holding_ms
    FROM unnest(positions) AS position
    JOIN trades ON trades.id = position.trade_id
    JOIN signals ON signals.id = trades.signal_id
    JOIN position_generator_logs AS logs ON logs.id = trades.position_generator_log_id
  ), with_r AS (SELECT *, round(net / planned_loss, 6) AS r FROM known)
  SELECT id, trade_id, user_id, processor, token, timeframe, sizing_method, side, opened_at, closed_at, net, gross, fees,
    funding, planned_loss, r, slippage_signal, slippage_entry, holding_ms, r_histogram_of(r),
    slippage_histogram_of(slippage_signal), slippage_histogram_of(slippage_entry),
    holding_histogram_of(holding_ms / 60000.0)
  FROM with_r
$$;
--> statement-breakpoint
-- The rows of sums over all users are shared: closings take turns, so that two of them never wait for each other.
CREATE FUNCTION take_turns_on_results() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(5128314);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION record_trade_results() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'added' THEN
    INSERT INTO trade_results SELECT * FROM trade_results_of((SELECT array_agg(changed::closed_positions) FROM changed));
  ELSE
    DELETE FROM trade_results USING changed WHERE trade_results.id = changed.id;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION add_up_trade_results() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'added' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO performance_totals AS known
  SELECT grains.grain, spans.span, CASE WHEN by_user THEN user_id ELSE '00000000-0000-0000-0000-000000000000' END AS whose,
    date_trunc(spans.span, closed_at, 'UTC') AS since, CASE WHEN by_detail THEN processor ELSE '' END AS a,
    CASE WHEN by_detail THEN token ELSE '' END AS b, CASE WHEN by_detail THEN timeframe ELSE '' END AS c,
    CASE WHEN by_detail THEN sizing_method ELSE '' END AS d, CASE WHEN by_detail THEN side ELSE '' END AS e,
    sign * count(*), sign * count(net), sign * count(gross), sign * count(fees), sign * count(funding), sign * count(r),
    sign * count(*) FILTER (WHERE net > 0), sign * count(*) FILTER (WHERE net < 0), sign * coalesce(sum(net), 0),
    sign * coalesce(sum(net) FILTER (WHERE net > 0), 0), sign * coalesce(sum(net) FILTER (WHERE net < 0), 0),
    sign * coalesce(sum(gross), 0), sign * coalesce(sum(fees), 0), sign * coalesce(sum(funding), 0),
    sign * coalesce(sum(r), 0), sign * coalesce(sum(net) FILTER (WHERE r IS NOT NULL), 0),
    sign * coalesce(sum(planned_loss) FILTER (WHERE r IS NOT NULL), 0),
    CASE sign WHEN 1 THEN max(net) END, CASE sign WHEN 1 THEN min(net) END, sign * coalesce(sum(holding_ms), 0),
    sign * sum(r_histogram), sign * sum(slippage_signal_histogram), sign * sum(slippage_entry_histogram),
    sign * sum(holding_histogram)
  FROM changed
  CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS spans (span)
  CROSS JOIN (VALUES ('all', false, false), ('user', true, false), ('detail', false, true), ('user detail', true, true))
    AS grains (grain, by_user, by_detail)
  GROUP BY grains.grain, spans.span, whose, since, a, b, c, d, e
  ON CONFLICT (grain, span, user_id, since, processor, token, timeframe, sizing_method, side) DO UPDATE SET
    trades = known.trades + excluded.trades,
    known_net = known.known_net + excluded.known_net,
    known_gross = known.known_gross + excluded.known_gross,
    known_fees = known.known_fees + excluded.known_fees,
    known_funding = known.known_funding + excluded.known_funding,
    known_r = known.known_r + excluded.known_r,
    wins = known.wins + excluded.wins,
    losses = known.losses + excluded.losses,
    net = known.net + excluded.net,
    won = known.won + excluded.won,
    lost = known.lost + excluded.lost,
    gross = known.gross + excluded.gross,
    fees = known.fees + excluded.fees,
    funding = known.funding + excluded.funding,
    r = known.r + excluded.r,
    risked_net = known.risked_net + excluded.risked_net,
    planned_loss = known.planned_loss + excluded.planned_loss,
    best = greatest(known.best, excluded.best),
    worst = least(known.worst, excluded.worst),
    holding_ms = known.holding_ms + excluded.holding_ms,
    r_histogram = known.r_histogram + excluded.r_histogram,
    slippage_signal_histogram = known.slippage_signal_histogram + excluded.slippage_signal_histogram,
    slippage_entry_histogram = known.slippage_entry_histogram + excluded.slippage_entry_histogram,
    holding_histogram = known.holding_histogram + excluded.holding_histogram;
  -- Best and worst cannot be subtracted: they are read again. Only results that are corrected come here.
  IF sign = -1 AND EXISTS (SELECT FROM changed WHERE net IS NOT NULL) THEN
    UPDATE performance_totals AS known SET (best, worst) = (
      SELECT max(results.net), min(results.net) FROM trade_results AS results
      WHERE results.closed_at >= known.since AND results.closed_at < known.since + ('1 ' || known.span)::interval
        AND (known.grain NOT LIKE 'user%' OR results.user_id = known.user_id)
        AND (known.grain NOT LIKE '%detail' OR (results.processor, results.token, results.timeframe, results.sizing_method,
          results.side) = (known.processor, known.token, known.timeframe, known.sizing_method, known.side)))
    WHERE (known.span, known.since) IN (
      SELECT spans.span, date_trunc(spans.span, changed.closed_at, 'UTC')
      FROM changed CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS spans (span) WHERE changed.net IS NOT NULL);
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER trade_results_insert_added_up AFTER INSERT ON trade_results REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_trade_results('added');
--> statement-breakpoint
CREATE TRIGGER trade_results_delete_added_up AFTER DELETE ON trade_results REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_trade_results('removed');
--> statement-breakpoint
CREATE TRIGGER closed_positions_results_turn BEFORE INSERT OR UPDATE OR DELETE ON closed_positions
  FOR EACH STATEMENT EXECUTE FUNCTION take_turns_on_results();
--> statement-breakpoint
CREATE TRIGGER closed_positions_insert_results AFTER INSERT ON closed_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION record_trade_results('added');
--> statement-breakpoint
CREATE TRIGGER closed_positions_delete_results AFTER DELETE ON closed_positions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION record_trade_results('removed');
--> statement-breakpoint
-- Triggers of one event run in the order of their names: a changed row is removed, then added.
CREATE TRIGGER closed_positions_update_results_1 AFTER UPDATE ON closed_positions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION record_trade_results('removed');
--> statement-breakpoint
CREATE TRIGGER closed_positions_update_results_2 AFTER UPDATE ON closed_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION record_trade_results('added');
--> statement-breakpoint
-- Ten thousand positions a statement, so that an array holds them.
DO $$
DECLARE
  last uuid := '00000000-0000-0000-0000-000000000000';
  batch closed_positions[];
BEGIN
  LOOP
    SELECT array_agg(position ORDER BY position.id) INTO batch
    FROM (SELECT * FROM closed_positions WHERE id > last ORDER BY id LIMIT 10000) AS position;
    EXIT WHEN batch IS NULL;
    INSERT INTO trade_results SELECT * FROM trade_results_of(batch);
    last := (batch[cardinality(batch)]).id;
  END LOOP;
END
$$;

