-- As in 0013: here where it takes no time, else by the program as soon as it runs (large-indexes.ts).
DO $$ BEGIN
  IF pg_relation_size('workflow_users') < 8 * 1024 * 1024 THEN
    CREATE INDEX "workflow_users_order" ON "workflow_users" USING btree ("workflow_id","position");
  END IF;
END $$;
