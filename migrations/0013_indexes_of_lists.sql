-- The indexes that lists are read from. To build one, or to drop one, holds up whoever writes: done here only where that
-- takes no time to speak of. Where a table is larger than that the program builds them beside what goes on, as soon as
-- it runs (large-indexes.ts).
DO $$ BEGIN
  IF pg_relation_size('signals') < 8 * 1024 * 1024 THEN
    DROP INDEX "signals_received";
    CREATE INDEX "signals_list" ON "signals" USING btree ("received_at","id","token","timeframe","processor","action");
    CREATE INDEX "signals_list_token" ON "signals" USING btree ("token","received_at","id","timeframe","processor","action");
    CREATE INDEX "signals_list_timeframe" ON "signals" USING btree ("timeframe","received_at","id","token","processor","action");
    CREATE INDEX "signals_list_processor" ON "signals" USING btree ("processor","received_at","id","token","timeframe","action");
  END IF;
END $$;
--> statement-breakpoint
DO $$ BEGIN
  IF coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('price_logs')), pg_relation_size('price_logs')) < 8 * 1024 * 1024 THEN
    DROP INDEX "price_logs_received";
    CREATE INDEX "price_logs_list" ON "price_logs" USING btree ("received_at","id","token","timeframe","processor");
    CREATE INDEX "price_logs_list_token" ON "price_logs" USING btree ("token","received_at","id","timeframe","processor");
    CREATE INDEX "price_logs_list_timeframe" ON "price_logs" USING btree ("timeframe","received_at","id","token","processor");
    CREATE INDEX "price_logs_list_processor" ON "price_logs" USING btree ("processor","received_at","id","token","timeframe");
  END IF;
END $$;
--> statement-breakpoint
DO $$ BEGIN
  IF pg_relation_size('workflows') < 8 * 1024 * 1024 THEN
    DROP INDEX "workflows_created";
    CREATE INDEX "workflows_list" ON "workflows" USING btree ("created_at","id","processor","status");
    CREATE INDEX "workflows_list_processor" ON "workflows" USING btree ("processor","created_at","id","status");
    CREATE INDEX "workflows_list_status" ON "workflows" USING btree ("status","created_at","id","processor");
  END IF;
END $$;
