CREATE TABLE "price_log_hashes" (
	"hash_value" "bytea" PRIMARY KEY NOT NULL,
	"price_log_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "engine_workers" ADD COLUMN "schema_version" integer;--> statement-breakpoint
CREATE INDEX "price_log_hashes_log" ON "price_log_hashes" USING brin ("price_log_id");--> statement-breakpoint
-- A program of the version before knows nothing of price_log_hashes and goes on beside this one: what it stores claims
-- its hashes here. It waits for those who have claimed some and are not done, and they for it, so that neither ends up
-- holding what the other wants. Who claims its hashes itself holds a lock on the table already. The triggers go when
-- price_logs is partitioned.
CREATE FUNCTION claim_price_log_hashes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'AFTER' THEN
    INSERT INTO price_log_hashes (hash_value, price_log_id)
      SELECT decode(hash_value, 'hex'), id FROM stored ON CONFLICT DO NOTHING;
  ELSIF NOT EXISTS (
    SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'price_log_hashes'::regclass AND mode = 'RowExclusiveLock'
  ) THEN
    LOCK TABLE price_log_hashes IN SHARE ROW EXCLUSIVE MODE;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER price_logs_claim_waits BEFORE INSERT ON price_logs
  FOR EACH STATEMENT EXECUTE FUNCTION claim_price_log_hashes();
--> statement-breakpoint
CREATE TRIGGER price_logs_claim_hashes AFTER INSERT ON price_logs
  REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION claim_price_log_hashes();
