CREATE TABLE "performance_days" (
	"detail" text NOT NULL,
	"value" text NOT NULL,
	"user_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"net" numeric NOT NULL,
	CONSTRAINT "performance_days_pk" PRIMARY KEY("detail","value","user_id","since")
);
--> statement-breakpoint
CREATE INDEX "performance_days_falls" ON "performance_days" USING btree ("detail","value","user_id","since","net");
--> statement-breakpoint
-- ---- Written by hand from here on: the function, its triggers and the results that are there ------------------------

CREATE FUNCTION add_up_performance_days() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'added' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO performance_days AS known
  SELECT details.detail, details.value, user_id, date_trunc('day', closed_at, 'UTC') AS day, sign * sum(net)
  FROM changed
  CROSS JOIN LATERAL (VALUES ('', ''), ('processor', processor), ('token', token), ('timeframe', timeframe),
    ('sizingMethod', sizing_method)) AS details (detail, value)
  WHERE net IS NOT NULL
  GROUP BY details.detail, details.value, user_id, day
  ON CONFLICT (detail, value, user_id, since) DO UPDATE SET net = known.net + excluded.net;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER trade_results_insert_days AFTER INSERT ON trade_results REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_performance_days('added');
--> statement-breakpoint
CREATE TRIGGER trade_results_delete_days AFTER DELETE ON trade_results REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_performance_days('removed');
--> statement-breakpoint
INSERT INTO performance_days
SELECT details.detail, details.value, user_id, date_trunc('day', closed_at, 'UTC'), sum(net)
FROM trade_results
CROSS JOIN LATERAL (VALUES ('', ''), ('processor', processor), ('token', token), ('timeframe', timeframe),
  ('sizingMethod', sizing_method)) AS details (detail, value)
WHERE net IS NOT NULL
GROUP BY 1, 2, 3, 4;
