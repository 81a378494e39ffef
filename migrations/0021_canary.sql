ALTER TABLE "strategies" ADD COLUMN "canary" jsonb;--> statement-breakpoint
ALTER TABLE "strategies" ADD COLUMN "rotation" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "strategies" ADD COLUMN "rotations" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "canary" jsonb;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "canary_state" text;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "canary_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "canary_reason" text;