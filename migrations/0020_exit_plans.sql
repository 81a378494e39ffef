CREATE TABLE "exit_plans" (
	"scope_kind" text NOT NULL,
	"scope_value" text NOT NULL,
	"plan" jsonb NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "exit_plans_scope_kind_scope_value_pk" PRIMARY KEY("scope_kind","scope_value")
);
--> statement-breakpoint
CREATE TABLE "trade_exits" (
	"trade_id" uuid PRIMARY KEY NOT NULL,
	"plan" jsonb NOT NULL,
	"scope_kind" text NOT NULL,
	"scope_value" text NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"planned" jsonb,
	"entered_at" timestamp (3) with time zone,
	"parts_done" integer DEFAULT 0 NOT NULL,
	"best_price" numeric,
	"problem" text
);
--> statement-breakpoint
ALTER TABLE "protection_moves" ALTER COLUMN "requested_by" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "protection_moves" ADD COLUMN "exit" text;--> statement-breakpoint
ALTER TABLE "trade_exits" ADD CONSTRAINT "trade_exits_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
-- ---- Written by hand: the plan of a trade as it was at the entry ---------------------------------------------------

-- In the transaction that commits the order, without a statement of its own. The user's plan wins over the strategy's; a
-- plan that does nothing leaves no row.
CREATE FUNCTION keep_exit_plans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trade_exits (trade_id, plan, scope_kind, scope_value)
  SELECT created.id, chosen.plan, chosen.scope_kind, chosen.scope_value
  FROM created
  JOIN signals ON signals.id = created.signal_id
  CROSS JOIN LATERAL (
    SELECT scope_kind, scope_value, plan FROM exit_plans
    WHERE (scope_kind = 'user' AND scope_value = created.user_id::text)
      OR (scope_kind = 'strategy' AND scope_value = lower(btrim(signals.processor)))
    ORDER BY (scope_kind = 'user') DESC
    LIMIT 1
  ) AS chosen
  WHERE chosen.plan <> '{"takeProfits": []}';
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER trades_insert_exits AFTER INSERT ON trades REFERENCING NEW TABLE AS created
  FOR EACH STATEMENT EXECUTE FUNCTION keep_exit_plans();
