ALTER TABLE "deliveries" ADD COLUMN "more_refused" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "more_limited" integer;