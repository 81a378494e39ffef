CREATE TABLE "list_choices" (
	"list" text NOT NULL,
	"column" text NOT NULL,
	"audience" uuid NOT NULL,
	"value" text NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "list_choices_pk" PRIMARY KEY("list","column","audience","value")
);
--> statement-breakpoint
CREATE INDEX "list_choices_most" ON "list_choices" USING btree ("list","column","audience","rows" DESC NULLS FIRST,"value");