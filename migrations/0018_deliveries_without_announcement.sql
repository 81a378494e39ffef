-- Deliveries and candles are announced by whoever takes them in, after the commit and ten times a second at most (record
-- 0029). A program of the version before that goes on meanwhile announces neither: screens that show them ask by the clock.
-- What takes deliveries must not stand behind a lock that waits for a long reader, a backup for instance. Where it cannot
-- be had, the triggers stay: they cost time, and announce what is announced already.
DO $$
DECLARE
  attempts integer := 50;
BEGIN
  WHILE attempts > 0 LOOP
    attempts := attempts - 1;
    BEGIN
      SET LOCAL lock_timeout = '100ms';
      DROP TRIGGER IF EXISTS "price_logs_insert_announced" ON "price_logs";
      DROP TRIGGER IF EXISTS "deliveries_insert_announced" ON "deliveries";
      attempts := 0;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1);
    END;
  END LOOP;
  SET LOCAL lock_timeout = DEFAULT;
END $$;
