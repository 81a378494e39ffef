CREATE TABLE "list_outcome_changes" (
	"month" date NOT NULL,
	"list" text NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"processor" text NOT NULL,
	"timeframe" text NOT NULL,
	"status" text NOT NULL,
	"outcome" text NOT NULL,
	"rows" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "list_outcome_totals" (
	"month" date NOT NULL,
	"list" text NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"processor" text NOT NULL,
	"timeframe" text NOT NULL,
	"status" text NOT NULL,
	"outcome" text NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "list_outcome_totals_pk" PRIMARY KEY("list","outcome","month","token","action","processor","timeframe","status")
);
--> statement-breakpoint
CREATE TABLE "signal_outcomes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"processor" text NOT NULL,
	"timeframe" text NOT NULL,
	"outcome" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "signal_outcomes_list" ON "signal_outcomes" USING btree ("outcome","received_at","id","token","timeframe","processor","action");--> statement-breakpoint
CREATE INDEX "signal_outcomes_list_token" ON "signal_outcomes" USING btree ("outcome","token","received_at","id","timeframe","processor","action");--> statement-breakpoint
CREATE INDEX "signal_outcomes_list_timeframe" ON "signal_outcomes" USING btree ("outcome","timeframe","received_at","id","token","processor","action");--> statement-breakpoint
CREATE INDEX "signal_outcomes_list_processor" ON "signal_outcomes" USING btree ("outcome","processor","received_at","id","token","timeframe","action");--> statement-breakpoint
CREATE INDEX "workflows_list_token" ON "workflows" USING btree ("token","created_at","id","processor","status");--> statement-breakpoint
CREATE INDEX "workflows_list_outcome" ON "workflows" USING btree ("outcome","created_at","id","token","processor","status") WHERE outcome is not null;--> statement-breakpoint
CREATE INDEX "workflows_without_outcome" ON "workflows" USING btree ("id") WHERE outcome is null and status not in ('pending', 'processing');--> statement-breakpoint
-- ---- Written by hand -------------------------------------------------------------------------------------------
CREATE FUNCTION count_outcome(list text, received_at timestamptz, token text, action text, processor text,
  timeframe text, status text, outcome text, rows integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO list_outcome_changes (list, month, token, action, processor, timeframe, status, outcome, rows)
  VALUES (list, date_trunc('month', received_at AT TIME ZONE 'UTC')::date, token, action, processor, timeframe, status,
    outcome, rows);
$$;--> statement-breakpoint
CREATE FUNCTION count_signal_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM count_outcome('signals', OLD.received_at, OLD.token, OLD.action, OLD.processor, OLD.timeframe, '',
      OLD.outcome, -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM count_outcome('signals', NEW.received_at, NEW.token, NEW.action, NEW.processor, NEW.timeframe, '',
      NEW.outcome, 1);
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER signal_outcomes_counted AFTER INSERT OR UPDATE OR DELETE ON signal_outcomes
  FOR EACH ROW EXECUTE FUNCTION count_signal_outcome();--> statement-breakpoint
CREATE FUNCTION keep_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed workflows;
  shown text;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_OP <> 'INSERT' AND OLD.outcome IS NOT NULL THEN
    PERFORM count_outcome('workflows', OLD.created_at, OLD.token, '', OLD.processor, '', OLD.status, OLD.outcome, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.outcome IS NOT NULL THEN
    PERFORM count_outcome('workflows', NEW.created_at, NEW.token, '', NEW.processor, '', NEW.status, NEW.outcome, 1);
  END IF;
  -- Two workflows of a signal that change at once take turns, or the second would miss what the first wrote.
  IF EXISTS (SELECT FROM workflows WHERE signal_id = changed.signal_id AND id <> changed.id) THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(changed.signal_id::text, 0));
  END IF;
  -- In the order of STANDS_FOR_SIGNAL in the program.
  SELECT outcome INTO shown FROM workflows WHERE signal_id = changed.signal_id
  ORDER BY successful_users_count DESC, CASE WHEN successful_users_count > 0 THEN id END, id DESC LIMIT 1;
  IF shown IS NULL THEN
    DELETE FROM signal_outcomes WHERE id = changed.signal_id;
  ELSE
    INSERT INTO signal_outcomes AS known (id, received_at, token, action, processor, timeframe, outcome)
    SELECT id, received_at, token, action, processor, timeframe, shown FROM signals WHERE id = changed.signal_id
    ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome WHERE known.outcome <> excluded.outcome;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
-- The first workflow of a signal starts without an outcome and without one on record: nothing to do.
CREATE TRIGGER workflows_insert_outcome AFTER INSERT ON workflows
  FOR EACH ROW WHEN (NEW.trigger = 'manual' OR NEW.outcome IS NOT NULL) EXECUTE FUNCTION keep_outcomes();--> statement-breakpoint
CREATE TRIGGER workflows_update_outcome AFTER UPDATE ON workflows
  FOR EACH ROW WHEN (NEW.outcome IS DISTINCT FROM OLD.outcome
    OR NEW.outcome IS NOT NULL AND NEW.status <> OLD.status
    OR NEW.successful_users_count <> OLD.successful_users_count
      AND (NEW.trigger = 'manual' OR NEW.outcome IS NOT NULL)) EXECUTE FUNCTION keep_outcomes();--> statement-breakpoint
CREATE TRIGGER workflows_delete_outcome AFTER DELETE ON workflows
  FOR EACH ROW EXECUTE FUNCTION keep_outcomes();--> statement-breakpoint
-- Those that are there; an older version stored none, and the program stores them later.
INSERT INTO signal_outcomes (id, received_at, token, action, processor, timeframe, outcome)
SELECT signals.id, received_at, signals.token, action, signals.processor, timeframe, shown.outcome
FROM signals CROSS JOIN LATERAL (
  SELECT outcome FROM workflows WHERE signal_id = signals.id
  ORDER BY successful_users_count DESC, CASE WHEN successful_users_count > 0 THEN id END, id DESC LIMIT 1
) AS shown WHERE shown.outcome IS NOT NULL;--> statement-breakpoint
INSERT INTO list_outcome_changes (list, month, token, action, processor, timeframe, status, outcome, rows)
SELECT 'workflows', date_trunc('month', created_at AT TIME ZONE 'UTC')::date, token, '', processor, '', status, outcome,
  count(*) FROM workflows WHERE outcome IS NOT NULL GROUP BY 2, 3, 5, 7, 8;

