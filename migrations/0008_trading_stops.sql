CREATE TABLE "trading_stops" (
	"id" uuid PRIMARY KEY NOT NULL,
	"scope_kind" text NOT NULL,
	"scope_value" text,
	"reason" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" uuid,
	"created_by_name" text NOT NULL,
	"until" timestamp (3) with time zone,
	"lifted_at" timestamp (3) with time zone,
	"lifted_by_name" text
);
--> statement-breakpoint
ALTER TABLE "trading_stops" ADD CONSTRAINT "trading_stops_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "trading_stops_open" ON "trading_stops" USING btree ("created_at") WHERE lifted_at is null;
--> statement-breakpoint
-- Written by hand from here: announces stops that are made or lifted.
CREATE TRIGGER trading_stops_insert_announced AFTER INSERT ON trading_stops REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-stops');
--> statement-breakpoint
CREATE TRIGGER trading_stops_update_announced AFTER UPDATE ON trading_stops REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-stops');

