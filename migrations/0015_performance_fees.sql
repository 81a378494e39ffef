CREATE TABLE "performance_fees" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"percent" numeric NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "performance_fees" ADD CONSTRAINT "performance_fees_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;
