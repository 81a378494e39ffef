CREATE TABLE "flatten_positions" (
	"flatten_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"is_entry" boolean NOT NULL,
	"state" text NOT NULL,
	"trade_id" uuid,
	"keep_quantity" numeric,
	"tries" integer DEFAULT 0 NOT NULL,
	"first_failed_at" timestamp (3) with time zone,
	"next_at" timestamp (3) with time zone NOT NULL,
	"reason" text,
	CONSTRAINT "flatten_positions_flatten_id_user_id_exchange_platform_token_pk" PRIMARY KEY("flatten_id","user_id","exchange_platform","token")
);
--> statement-breakpoint
CREATE TABLE "flattens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"scope_kind" text NOT NULL,
	"scope_value" text,
	"requested_by" uuid,
	"actor" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ends_stop_id" uuid,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "flatten_positions" ADD CONSTRAINT "flatten_positions_flatten_id_flattens_id_fk" FOREIGN KEY ("flatten_id") REFERENCES "public"."flattens"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "flatten_positions" ADD CONSTRAINT "flatten_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "flattens" ADD CONSTRAINT "flattens_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "flattens" ADD CONSTRAINT "flattens_ends_stop_id_trading_stops_id_fk" FOREIGN KEY ("ends_stop_id") REFERENCES "public"."trading_stops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "flatten_positions_trade" ON "flatten_positions" USING btree ("trade_id");--> statement-breakpoint
CREATE INDEX "flattens_open" ON "flattens" USING btree ("created_at") WHERE ended_at is null;
--> statement-breakpoint
-- Written by hand from here: announces the progress of closings.
CREATE TRIGGER flattens_insert_announced AFTER INSERT ON flattens REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('flattens');
--> statement-breakpoint
CREATE TRIGGER flattens_update_announced AFTER UPDATE ON flattens REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('flattens');
--> statement-breakpoint
CREATE TRIGGER flatten_positions_update_announced AFTER UPDATE ON flatten_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('flattens');

