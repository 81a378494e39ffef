CREATE TABLE "counted_lists" (
	"list" text PRIMARY KEY NOT NULL,
	"counted_before" uuid NOT NULL,
	"clock_lag_ms" bigint DEFAULT 0 NOT NULL,
	"clock_lag_seen_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "list_totals" (
	"list" text NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"processor" text NOT NULL,
	"timeframe" text NOT NULL,
	"status" text NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "list_totals_pk" PRIMARY KEY("list","token","action","processor","timeframe","status")
);
--> statement-breakpoint
CREATE TABLE "list_totals_by_month" (
	"month" date NOT NULL,
	"list" text NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"processor" text NOT NULL,
	"timeframe" text NOT NULL,
	"status" text NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "list_totals_by_month_pk" PRIMARY KEY("list","month","token","action","processor","timeframe","status")
);
--> statement-breakpoint
CREATE TABLE "signal_totals_by_quarter" (
	"since" timestamp (3) with time zone NOT NULL,
	"action" text NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "signal_totals_by_quarter_since_action_pk" PRIMARY KEY("since","action")
);
