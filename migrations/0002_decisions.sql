CREATE TABLE "decisions" (
	"workflow_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"record" jsonb NOT NULL,
	"seals" jsonb NOT NULL,
	CONSTRAINT "decisions_workflow_id_user_id_pk" PRIMARY KEY("workflow_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_workflow_id_workflows_id_fk" FOREIGN KEY ("workflow_id") REFERENCES "public"."workflows"("id") ON DELETE no action ON UPDATE no action;