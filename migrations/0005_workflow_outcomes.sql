ALTER TABLE "workflows" ADD COLUMN "outcome" text;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "failed_users_count" integer;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "skipped_users_count" integer;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "top_reason" text;