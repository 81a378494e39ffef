ALTER TABLE "paper_accounts" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
ALTER TABLE "paper_accounts" ADD COLUMN "margin_mode" text;--> statement-breakpoint
ALTER TABLE "paper_fills" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
ALTER TABLE "paper_orders" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
ALTER TABLE "paper_positions" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
ALTER TABLE "paper_token_settings" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
ALTER TABLE "paper_token_settings" ADD COLUMN "position_mode" text;--> statement-breakpoint
ALTER TABLE "paper_trigger_orders" ADD COLUMN "platform" text DEFAULT 'Bitget' NOT NULL;--> statement-breakpoint
DROP INDEX "paper_fills_user";--> statement-breakpoint
DROP INDEX "paper_orders_pending_client_order_id";--> statement-breakpoint
DROP INDEX "paper_orders_client_order_id";--> statement-breakpoint
DROP INDEX "paper_trigger_orders_live";--> statement-breakpoint
ALTER TABLE "paper_positions" DROP CONSTRAINT "paper_positions_user_id_token_pk";--> statement-breakpoint
ALTER TABLE "paper_token_settings" DROP CONSTRAINT "paper_token_settings_user_id_token_pk";--> statement-breakpoint
ALTER TABLE "paper_accounts" DROP CONSTRAINT "paper_accounts_pkey";--> statement-breakpoint
ALTER TABLE "paper_accounts" ADD CONSTRAINT "paper_accounts_user_id_platform_pk" PRIMARY KEY("user_id","platform");--> statement-breakpoint
ALTER TABLE "paper_positions" ADD CONSTRAINT "paper_positions_user_id_platform_token_pk" PRIMARY KEY("user_id","platform","token");--> statement-breakpoint
ALTER TABLE "paper_token_settings" ADD CONSTRAINT "paper_token_settings_user_id_platform_token_pk" PRIMARY KEY("user_id","platform","token");--> statement-breakpoint
CREATE INDEX "paper_fills_user" ON "paper_fills" USING btree ("user_id","platform","token","id");--> statement-breakpoint
CREATE UNIQUE INDEX "paper_orders_pending_client_order_id" ON "paper_orders" USING btree ("user_id","platform","client_order_id") WHERE state in ('live', 'partially_filled');--> statement-breakpoint
CREATE INDEX "paper_orders_client_order_id" ON "paper_orders" USING btree ("user_id","platform","client_order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "paper_trigger_orders_live" ON "paper_trigger_orders" USING btree ("user_id","platform","token","plan_type") WHERE state = 'live';