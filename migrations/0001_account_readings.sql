CREATE TABLE "account_readings" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"account_id" text,
	"futures_available" numeric NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "account_readings_user_id_exchange_platform_token_pk" PRIMARY KEY("user_id","exchange_platform","token")
);
--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "account_read_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "account_readings" ADD CONSTRAINT "account_readings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;