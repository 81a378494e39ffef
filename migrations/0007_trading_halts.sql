CREATE TABLE "trading_halts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"trade_id" uuid,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"cleared_at" timestamp (3) with time zone,
	"cleared_how" text,
	"ended_at" timestamp (3) with time zone,
	"ended_by" uuid
);
--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "unprotected_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "protected_quantity" numeric;--> statement-breakpoint
ALTER TABLE "trading_halts" ADD CONSTRAINT "trading_halts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trading_halts" ADD CONSTRAINT "trading_halts_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trading_halts" ADD CONSTRAINT "trading_halts_ended_by_users_id_fk" FOREIGN KEY ("ended_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "trading_halts_one_a_position" ON "trading_halts" USING btree ("user_id","exchange_platform","token") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "trading_halts_ended" ON "trading_halts" USING btree ("ended_at");
--> statement-breakpoint
-- Who is halted, and who may trade again, is announced like everything that screens show (migration 0001).
CREATE TRIGGER trading_halts_insert_announced AFTER INSERT ON trading_halts
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-halts', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER trading_halts_update_announced AFTER UPDATE ON trading_halts
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-halts', 'jsonb_build_object(''userId'', user_id)');
