CREATE TABLE "account_figures" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"exchange_mode" text NOT NULL,
	"positions" jsonb NOT NULL,
	"positions_at" timestamp (3) with time zone NOT NULL,
	"equity" numeric,
	"equity_at" timestamp (3) with time zone,
	CONSTRAINT "account_figures_user_id_exchange_platform_pk" PRIMARY KEY("user_id","exchange_platform")
);
--> statement-breakpoint
CREATE TABLE "equity_snapshots" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"exchange_mode" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"taken_for" text NOT NULL,
	"equity" numeric NOT NULL,
	"wallet_balance" numeric NOT NULL,
	"open_profit" numeric NOT NULL,
	"net_deposits" numeric,
	"positions" jsonb NOT NULL
);
--> statement-breakpoint
ALTER TABLE "account_figures" ADD CONSTRAINT "account_figures_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "equity_snapshots" ADD CONSTRAINT "equity_snapshots_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "equity_snapshots_account" ON "equity_snapshots" USING btree ("user_id","exchange_platform","at");
