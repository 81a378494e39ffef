CREATE TABLE "workflow_prices" (
	"workflow_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"price" numeric,
	"read_at" timestamp (3) with time zone,
	"reading_until" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workflow_prices_workflow_id_exchange_platform_pk" PRIMARY KEY("workflow_id","exchange_platform")
);
--> statement-breakpoint
ALTER TABLE "workflow_prices" ADD CONSTRAINT "workflow_prices_workflow_id_workflows_id_fk" FOREIGN KEY ("workflow_id") REFERENCES "public"."workflows"("id") ON DELETE no action ON UPDATE no action;