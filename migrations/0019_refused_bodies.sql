ALTER TABLE "deliveries" ADD COLUMN "refused_body" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "fault_line" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "fault_column" integer;