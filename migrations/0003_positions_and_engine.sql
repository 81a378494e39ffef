CREATE TABLE "closed_positions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trade_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"exchange_position_id" text,
	"token" text NOT NULL,
	"side" text NOT NULL,
	"quantity" numeric NOT NULL,
	"entry_price" numeric NOT NULL,
	"close_price" numeric,
	"realised_profit" numeric,
	"fees" numeric,
	"closed_by" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone NOT NULL,
	"recorded_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "engine_restart_answers" (
	"restart_id" bigint NOT NULL,
	"instance_id" text NOT NULL,
	"error" text,
	"answered_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "engine_restart_answers_restart_id_instance_id_pk" PRIMARY KEY("restart_id","instance_id")
);
--> statement-breakpoint
CREATE TABLE "engine_restarts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "engine_restarts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"requested_by" uuid NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "engine_workers" (
	"instance_id" text NOT NULL,
	"worker_id" text NOT NULL,
	"is_active" boolean NOT NULL,
	"current_tasks" integer NOT NULL,
	"max_concurrent" integer NOT NULL,
	"processed_tasks" bigint NOT NULL,
	"last_activity" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone NOT NULL,
	"heartbeat_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "engine_workers_instance_id_worker_id_pk" PRIMARY KEY("instance_id","worker_id")
);
--> statement-breakpoint
ALTER TABLE "position_closes" ADD COLUMN "requested_by" uuid;--> statement-breakpoint
ALTER TABLE "trades" ADD COLUMN "position_closed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "closed_positions" ADD CONSTRAINT "closed_positions_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "closed_positions" ADD CONSTRAINT "closed_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_restart_answers" ADD CONSTRAINT "engine_restart_answers_restart_id_engine_restarts_id_fk" FOREIGN KEY ("restart_id") REFERENCES "public"."engine_restarts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_restarts" ADD CONSTRAINT "engine_restarts_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "closed_positions_exchange" ON "closed_positions" USING btree ("user_id","exchange_platform","exchange_position_id");--> statement-breakpoint
CREATE UNIQUE INDEX "closed_positions_untold" ON "closed_positions" USING btree ("trade_id") WHERE exchange_position_id is null;--> statement-breakpoint
CREATE INDEX "closed_positions_closed" ON "closed_positions" USING btree ("closed_at","id");--> statement-breakpoint
CREATE INDEX "closed_positions_user" ON "closed_positions" USING btree ("user_id","closed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "engine_restarts_one_running" ON "engine_restarts" USING btree ((finished_at is null)) WHERE finished_at is null;--> statement-breakpoint
ALTER TABLE "position_closes" ADD CONSTRAINT "position_closes_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "trades_position_open" ON "trades" USING btree ("user_id","token") WHERE position_closed_at is null and (state <> 'done' or fill_status in ('filled', 'partial'));