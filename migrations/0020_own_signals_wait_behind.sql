-- Workflows of a user's own signal wait for the token behind those that concern everybody (record 0032). What takes
-- deliveries must not stand behind a lock that waits for a long reader, a backup for instance: it is asked for again and
-- again, a tenth of a second at a time.
DO $$
DECLARE
  attempts integer := 600;
BEGIN
  LOOP
    BEGIN
      SET LOCAL lock_timeout = '100ms';
      ALTER TABLE "workflows" ADD COLUMN "is_own" boolean DEFAULT false NOT NULL;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      attempts := attempts - 1;
      IF attempts = 0 THEN RAISE; END IF;
      PERFORM pg_sleep(0.1);
    END;
  END LOOP;
  SET LOCAL lock_timeout = DEFAULT;
END $$;--> statement-breakpoint
-- As in 0013: here where it takes no time, else by the program as soon as it runs (large-indexes.ts).
DO $$ BEGIN
  IF pg_relation_size('workflows') < 8 * 1024 * 1024 THEN
    DROP INDEX "workflows_unfinished";
    CREATE INDEX "workflows_waiting" ON "workflows" USING btree ("token","is_own","id") WHERE status in ('pending', 'processing');
  END IF;
END $$;
