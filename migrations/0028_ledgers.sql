CREATE TABLE "ledger_coverage" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"exchange_mode" text NOT NULL,
	"account" text NOT NULL,
	"covered_from" timestamp (3) with time zone NOT NULL,
	"covered_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ledger_coverage_key" PRIMARY KEY("user_id","exchange_platform","exchange_mode","account","covered_from")
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"exchange_mode" text NOT NULL,
	"account" text NOT NULL,
	"entry_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"position" bigint NOT NULL,
	"kind" text NOT NULL,
	"amount" numeric NOT NULL,
	"balance" numeric,
	"token" text,
	"client_order_id" text,
	"text" text NOT NULL,
	CONSTRAINT "ledger_entries_key" PRIMARY KEY("user_id","exchange_platform","exchange_mode","account","entry_id")
);
--> statement-breakpoint
ALTER TABLE "ledger_coverage" ADD CONSTRAINT "ledger_coverage_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ledger_entries_in_order" ON "ledger_entries" USING btree ("user_id","exchange_platform","exchange_mode","account","at","position");