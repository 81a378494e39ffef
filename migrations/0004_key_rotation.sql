CREATE TABLE "instances" (
	"instance_id" text PRIMARY KEY NOT NULL,
	"key_check" "bytea" NOT NULL,
	"next_key_check" "bytea",
	"seals_under_next" boolean NOT NULL,
	"heartbeat_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "secret_key_checks" ADD COLUMN "next_key_check" "bytea";