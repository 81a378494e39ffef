CREATE TABLE "statement_archives" (
	"id" uuid PRIMARY KEY NOT NULL,
	"month" text NOT NULL,
	"requested_by" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"users" integer,
	"done" integer DEFAULT 0 NOT NULL,
	"incomplete" integer DEFAULT 0 NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"content" "bytea"
);
--> statement-breakpoint
ALTER TABLE "statement_archives" ADD CONSTRAINT "statement_archives_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "statement_archives_open" ON "statement_archives" USING btree ("month") WHERE ended_at is null;