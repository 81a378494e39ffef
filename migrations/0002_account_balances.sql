CREATE TABLE "account_balances" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"futures_available" numeric NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "account_balances_user_id_exchange_platform_pk" PRIMARY KEY("user_id","exchange_platform")
);
--> statement-breakpoint
ALTER TABLE "account_balances" ADD CONSTRAINT "account_balances_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;