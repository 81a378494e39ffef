CREATE TABLE "feed_gaps" (
	"feed_id" uuid NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"missing" integer NOT NULL,
	CONSTRAINT "feed_gaps_feed_id_ended_at_pk" PRIMARY KEY("feed_id","ended_at")
);
--> statement-breakpoint
CREATE TABLE "feed_sweeps" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"swept_to" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "feeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"hook_id" uuid NOT NULL,
	"owner_user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"processor" text NOT NULL,
	"candles" integer NOT NULL,
	"last_candle_time" timestamp (3) with time zone NOT NULL,
	"last_received_at" timestamp (3) with time zone NOT NULL,
	"skew_seconds" integer NOT NULL,
	"muted" boolean DEFAULT false NOT NULL,
	"grace_seconds" integer,
	"hours_from" text,
	"hours_to" text,
	"silent_since" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "notice_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"notice_id" uuid NOT NULL,
	"is_critical" boolean NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"tries" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notice_events" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "notice_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone,
	"code" text,
	"user_id" uuid,
	"workflow_id" uuid,
	"trade_id" uuid,
	"data" jsonb
);
--> statement-breakpoint
CREATE TABLE "notice_reads" (
	"user_id" uuid NOT NULL,
	"notice_id" uuid NOT NULL,
	CONSTRAINT "notice_reads_user_id_notice_id_pk" PRIMARY KEY("user_id","notice_id")
);
--> statement-breakpoint
CREATE TABLE "notice_states" (
	"key" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"told_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"severity" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"text" text NOT NULL,
	"link" text NOT NULL,
	"subject" jsonb NOT NULL,
	"data" jsonb NOT NULL,
	"recipient_id" uuid,
	"made_at" timestamp (3) with time zone NOT NULL,
	"held_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "notification_channels" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_user_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"config_sealed" text NOT NULL,
	"shown" jsonb NOT NULL,
	"min_severity" text NOT NULL,
	"codes" text[],
	"quiet_from" text,
	"quiet_to" text,
	"enabled" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"last_sent_at" timestamp (3) with time zone,
	"last_error" text,
	"last_error_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD COLUMN "key_expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "notification_channels" ADD CONSTRAINT "notification_channels_owner_user_id_users_id_fk" FOREIGN KEY ("owner_user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "feeds_series" ON "feeds" USING btree ("hook_id","token","timeframe","processor");--> statement-breakpoint
CREATE INDEX "notice_deliveries_waiting" ON "notice_deliveries" USING btree ("channel_id","id") WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX "notice_deliveries_notice" ON "notice_deliveries" USING btree ("notice_id");--> statement-breakpoint
CREATE INDEX "notice_events_id" ON "notice_events" USING btree ("id");--> statement-breakpoint
CREATE INDEX "notice_reads_notice" ON "notice_reads" USING btree ("notice_id");--> statement-breakpoint
CREATE INDEX "notices_recipient" ON "notices" USING btree ("recipient_id","id");--> statement-breakpoint
CREATE INDEX "notices_made" ON "notices" USING btree ("made_at");--> statement-breakpoint
CREATE INDEX "notices_held" ON "notices" USING btree ("held_until") WHERE held_until is not null;--> statement-breakpoint
CREATE INDEX "notification_channels_owner" ON "notification_channels" USING btree ("owner_user_id");
--> statement-breakpoint
-- Written by hand: announces new notices to the browsers of their recipients; administrators have none of their own.
CREATE TRIGGER notices_insert_announced AFTER INSERT ON notices REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('notifications', 'jsonb_build_object(''userId'', recipient_id)');--> statement-breakpoint
CREATE TRIGGER notices_update_announced AFTER UPDATE ON notices REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('notifications', 'jsonb_build_object(''userId'', recipient_id)');--> statement-breakpoint
CREATE TRIGGER notice_reads_insert_announced AFTER INSERT ON notice_reads REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('notifications', 'jsonb_build_object(''userId'', user_id)');

