-- As in 0013: here where it takes no time, else by the program as soon as it runs (large-indexes.ts).
DO $$ BEGIN
  IF coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('price_logs')), pg_relation_size('price_logs')) < 8 * 1024 * 1024 THEN
    DROP INDEX "price_logs_match";
    CREATE INDEX "price_logs_series" ON "price_logs" USING btree ("token","timeframe","candle_time_server");
  END IF;
END $$;
