ALTER TABLE "exchange_credentials" ADD COLUMN "exchange_mode" text;--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD COLUMN "account_id" text;--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD COLUMN "inspected_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD COLUMN "rejected_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD COLUMN "rejected_reason" text;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "exchange_mode" text;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "exchange_account_id" text;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "written_off_by" uuid;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "written_off_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "trades" ADD CONSTRAINT "trades_written_off_by_users_id_fk" FOREIGN KEY ("written_off_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;