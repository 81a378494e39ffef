CREATE TABLE "chat_questions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"scope_kind" text NOT NULL,
	"scope_value" text,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "telegram_bots" (
	"bot_id" text PRIMARY KEY NOT NULL,
	"next_update" bigint NOT NULL,
	"handled_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "notification_channels" ADD COLUMN "answers_after" bigint;--> statement-breakpoint
ALTER TABLE "notification_channels" ADD COLUMN "answers_error" text;--> statement-breakpoint
ALTER TABLE "notification_channels" ADD COLUMN "muted_until" timestamp (3) with time zone;