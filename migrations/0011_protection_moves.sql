CREATE TABLE "protection_moves" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trade_id" uuid NOT NULL,
	"stop_loss" numeric,
	"take_profit" numeric,
	"old_stop_loss" numeric,
	"old_take_profit" numeric,
	"state" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"message" text,
	"requested_by" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "moved_stop_loss" numeric;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "moved_take_profit" numeric;--> statement-breakpoint
ALTER TABLE "protection_moves" ADD CONSTRAINT "protection_moves_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "protection_moves" ADD CONSTRAINT "protection_moves_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "protection_moves_trade" ON "protection_moves" USING btree ("trade_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "protection_moves_unfinished" ON "protection_moves" USING btree ("trade_id") WHERE state in ('requested', 'sent');
