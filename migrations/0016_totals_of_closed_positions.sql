CREATE TABLE "closed_position_totals" (
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"positions" bigint NOT NULL,
	"realised_profit" numeric NOT NULL,
	"fees" numeric NOT NULL,
	"profit_after_fees" numeric NOT NULL,
	CONSTRAINT "closed_position_totals_pk" PRIMARY KEY("user_id","token")
);
--> statement-breakpoint
ALTER TABLE "closed_position_totals" ADD CONSTRAINT "closed_position_totals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "closed_position_totals_token" ON "closed_position_totals" USING btree ("token");--> statement-breakpoint
-- As in 0013: here where it takes no time, else by the program as soon as it runs (large-indexes.ts).
DO $$ BEGIN
  IF pg_relation_size('closed_positions') < 8 * 1024 * 1024 THEN
    CREATE INDEX "closed_positions_list_token" ON "closed_positions" USING btree ("token","closed_at","id");
  END IF;
END $$;
--> statement-breakpoint
-- Whoever adds, changes or removes closed positions, their sums are right with the same commit. A user's rows in a token
-- change seldom and one at a time, so nobody waits long for the row of their sums.
CREATE FUNCTION add_up_closed_positions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO closed_position_totals AS known (user_id, token, positions, realised_profit, fees, profit_after_fees)
  SELECT user_id, token, sign * count(*), sign * coalesce(sum(realised_profit), 0), sign * coalesce(sum(fees), 0),
    sign * coalesce(sum(realised_profit - coalesce(fees, 0)), 0)
  FROM changed, (SELECT CASE TG_ARGV[0] WHEN 'added' THEN 1 ELSE -1 END AS sign) AS direction
  GROUP BY user_id, token, sign ORDER BY user_id, token
  ON CONFLICT (user_id, token) DO UPDATE SET
    positions = known.positions + excluded.positions,
    realised_profit = known.realised_profit + excluded.realised_profit,
    fees = known.fees + excluded.fees,
    profit_after_fees = known.profit_after_fees + excluded.profit_after_fees;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- From the first of these on nobody else writes closed positions until all of this is committed.
CREATE TRIGGER closed_positions_insert_added_up AFTER INSERT ON closed_positions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('added');
--> statement-breakpoint
CREATE TRIGGER closed_positions_delete_added_up AFTER DELETE ON closed_positions
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('removed');
--> statement-breakpoint
CREATE TRIGGER closed_positions_update_taken_off AFTER UPDATE ON closed_positions
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('removed');
--> statement-breakpoint
CREATE TRIGGER closed_positions_update_added_up AFTER UPDATE ON closed_positions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('added');
--> statement-breakpoint
INSERT INTO closed_position_totals (user_id, token, positions, realised_profit, fees, profit_after_fees)
SELECT user_id, token, count(*), coalesce(sum(realised_profit), 0), coalesce(sum(fees), 0),
  coalesce(sum(realised_profit - coalesce(fees, 0)), 0)
FROM closed_positions GROUP BY user_id, token;
