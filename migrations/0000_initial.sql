CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"hook_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"result" text NOT NULL,
	"reason" text,
	"source_ip" text NOT NULL,
	"record_id" uuid,
	"received_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "exchange_credentials" (
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"api_key_hint" text NOT NULL,
	"sealed" text NOT NULL,
	"account_mode" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "exchange_credentials_user_id_exchange_platform_pk" PRIMARY KEY("user_id","exchange_platform")
);
--> statement-breakpoint
CREATE TABLE "hooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"key_sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "hooks_user_id_unique" UNIQUE("user_id"),
	CONSTRAINT "hooks_key_hash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"key" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"version" bigint NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trade_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"client_order_id" text NOT NULL,
	"price" numeric NOT NULL,
	"quantity" numeric NOT NULL,
	"state" text NOT NULL,
	"order_id" text,
	"filled_quantity" numeric DEFAULT '0' NOT NULL,
	"average_price" numeric,
	"fee" numeric,
	"error" text,
	"submitted_at" timestamp (3) with time zone,
	"lookup_misses" integer DEFAULT 0 NOT NULL,
	"placement_tries" integer DEFAULT 0 NOT NULL,
	"verify_at" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"order_payload" jsonb,
	"raw" jsonb,
	CONSTRAINT "order_attempts_client_order_id_unique" UNIQUE("client_order_id")
);
--> statement-breakpoint
CREATE TABLE "position_closes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"side" text NOT NULL,
	"quantity" numeric NOT NULL,
	"reason" text NOT NULL,
	"workflow_id" uuid,
	"trade_id" uuid,
	"client_order_id" text NOT NULL,
	"state" text NOT NULL,
	"order_id" text,
	"average_price" numeric,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "position_closes_client_order_id_unique" UNIQUE("client_order_id")
);
--> statement-breakpoint
CREATE TABLE "position_generator_logs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"signal_id" uuid NOT NULL,
	"price_log_id" uuid,
	"user_id" uuid NOT NULL,
	"workflow_id" uuid,
	"profile" text NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"success" boolean NOT NULL,
	"is_estimate" boolean DEFAULT false NOT NULL,
	"error" text,
	"position" jsonb,
	"settings" jsonb NOT NULL,
	"calculation_reason" text,
	"calculation_detail" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "price_logs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"hook_id" uuid NOT NULL,
	"owner_user_id" uuid NOT NULL,
	"from_admin" boolean NOT NULL,
	"token" text NOT NULL,
	"timeframe" text NOT NULL,
	"price" numeric NOT NULL,
	"currency" text NOT NULL,
	"processor" text,
	"candle_time_tradingview" text NOT NULL,
	"candle_time_server" timestamp (3) with time zone NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"source_ip" text NOT NULL,
	"hash_value" text NOT NULL,
	"parameters" jsonb NOT NULL,
	CONSTRAINT "price_logs_hash_value_unique" UNIQUE("hash_value")
);
--> statement-breakpoint
CREATE TABLE "processing_slots" (
	"token" text PRIMARY KEY NOT NULL,
	"workflow_id" uuid NOT NULL,
	"acquired_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" varchar(255) PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" bigint
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"key_revealed_until" timestamp (3) with time zone,
	CONSTRAINT "sessions_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "signal_hashes" (
	"hash_value" text PRIMARY KEY NOT NULL,
	"signal_id" uuid NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"lasting" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"hook_id" uuid NOT NULL,
	"owner_user_id" uuid NOT NULL,
	"from_admin" boolean NOT NULL,
	"token" text NOT NULL,
	"action" text NOT NULL,
	"price" numeric NOT NULL,
	"currency" text NOT NULL,
	"timeframe" text NOT NULL,
	"processor" text NOT NULL,
	"signal_time_tradingview" text,
	"signal_time_server" timestamp (3) with time zone,
	"received_at" timestamp (3) with time zone NOT NULL,
	"source_ip" text NOT NULL,
	"hash_value" text NOT NULL,
	"parameters" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trade_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trade_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"text" text NOT NULL,
	"data" jsonb
);
--> statement-breakpoint
CREATE TABLE "trades" (
	"id" uuid PRIMARY KEY NOT NULL,
	"position_generator_log_id" uuid NOT NULL,
	"workflow_id" uuid,
	"signal_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"trigger_type" text NOT NULL,
	"profile" text NOT NULL,
	"exchange_platform" text NOT NULL,
	"token" text NOT NULL,
	"side" text NOT NULL,
	"planned_quantity" numeric NOT NULL,
	"entry_price" numeric NOT NULL,
	"stop_loss" numeric NOT NULL,
	"take_profit" numeric NOT NULL,
	"leverage" integer NOT NULL,
	"planned_margin" numeric NOT NULL,
	"state" text NOT NULL,
	"success" boolean,
	"fill_status" text,
	"error" text,
	"order_id" text,
	"filled_quantity" numeric DEFAULT '0' NOT NULL,
	"average_price" numeric,
	"fee" numeric,
	"protection_status" text,
	"exchange_response" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone,
	CONSTRAINT "trades_position_generator_log_id_unique" UNIQUE("position_generator_log_id")
);
--> statement-breakpoint
CREATE TABLE "user_settings" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"calculation_behavior" text NOT NULL,
	"market_type" text NOT NULL,
	"position_sizing_method" text NOT NULL,
	"investment_portion" numeric,
	"maximum_risk_per_trade" numeric,
	"exchange_platform" text NOT NULL,
	"signal_processor" text NOT NULL,
	"signal_timeframe" text NOT NULL,
	"active_trading" boolean NOT NULL,
	"trading_paused_until" timestamp (3) with time zone,
	"trade_order_set" char(1) NOT NULL,
	"opposite_signal" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"username" text NOT NULL,
	"username_key" text NOT NULL,
	"password_hash" text NOT NULL,
	"first_name" text,
	"last_name" text,
	"country_code" text,
	"mobile_number" text,
	"is_admin" boolean DEFAULT false NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_test_user" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "users_username_key_unique" UNIQUE("username_key")
);
--> statement-breakpoint
CREATE TABLE "workflow_steps" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workflow_id" uuid NOT NULL,
	"step_number" integer NOT NULL,
	"step_name" text NOT NULL,
	"step_type" text NOT NULL,
	"user_id" uuid,
	"status" text NOT NULL,
	"input_data" jsonb,
	"output_data" jsonb,
	"metadata" jsonb,
	"error_message" text,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"execution_time_ms" integer,
	"processor_name" text
);
--> statement-breakpoint
CREATE TABLE "workflow_users" (
	"workflow_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"username" text NOT NULL,
	"position" integer,
	"status" text NOT NULL,
	"reason" text NOT NULL,
	"rule" text NOT NULL,
	"saw" text NOT NULL,
	"wanted" text NOT NULL,
	"layer" integer,
	"outcome" text,
	"failed_tries" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "workflow_users_workflow_id_user_id_pk" PRIMARY KEY("workflow_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "workflows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"signal_id" uuid NOT NULL,
	"trigger" text NOT NULL,
	"trigger_reason" text,
	"status" text NOT NULL,
	"token" text NOT NULL,
	"processor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"eligible_users_count" integer DEFAULT 0 NOT NULL,
	"successful_users_count" integer DEFAULT 0 NOT NULL,
	"error_message" text,
	"error_details" jsonb,
	"failed_tries" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "paper_accounts" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"balance" numeric NOT NULL,
	"realised_profit" numeric DEFAULT '0' NOT NULL,
	"fees_paid" numeric DEFAULT '0' NOT NULL,
	"position_mode" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "paper_fills" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "paper_fills_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1500000000000000000 CACHE 1),
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"order_id" bigint NOT NULL,
	"side" text NOT NULL,
	"price" numeric NOT NULL,
	"size" numeric NOT NULL,
	"value" numeric NOT NULL,
	"fee" numeric NOT NULL,
	"profit" numeric NOT NULL,
	"liquidity" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "paper_orders" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "paper_orders_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1300000000000000000 CACHE 1),
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"client_order_id" text NOT NULL,
	"side" text NOT NULL,
	"order_type" text NOT NULL,
	"reduce_only" boolean NOT NULL,
	"price" numeric,
	"size" numeric NOT NULL,
	"filled_size" numeric DEFAULT '0' NOT NULL,
	"filled_value" numeric DEFAULT '0' NOT NULL,
	"fee" numeric DEFAULT '0' NOT NULL,
	"profit" numeric DEFAULT '0' NOT NULL,
	"leverage" integer NOT NULL,
	"margin_mode" text NOT NULL,
	"position_mode" text NOT NULL,
	"preset_stop_loss" numeric,
	"preset_take_profit" numeric,
	"state" text NOT NULL,
	"source" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "paper_orders_filled" CHECK (filled_size >= 0 and filled_size <= size)
);
--> statement-breakpoint
CREATE TABLE "paper_positions" (
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"side" text NOT NULL,
	"size" numeric NOT NULL,
	"entry_price" numeric NOT NULL,
	"margin" numeric NOT NULL,
	"leverage" integer NOT NULL,
	"margin_mode" text NOT NULL,
	"realised_profit" numeric DEFAULT '0' NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "paper_positions_user_id_token_pk" PRIMARY KEY("user_id","token"),
	CONSTRAINT "paper_positions_size" CHECK (size > 0)
);
--> statement-breakpoint
CREATE TABLE "paper_token_settings" (
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"leverage" integer NOT NULL,
	"margin_mode" text NOT NULL,
	"mark_cursor" text,
	CONSTRAINT "paper_token_settings_user_id_token_pk" PRIMARY KEY("user_id","token")
);
--> statement-breakpoint
CREATE TABLE "paper_trigger_orders" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "paper_trigger_orders_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1400000000000000000 CACHE 1),
	"user_id" uuid NOT NULL,
	"token" text NOT NULL,
	"client_order_id" text NOT NULL,
	"plan_type" text NOT NULL,
	"hold_side" text NOT NULL,
	"trigger_price" numeric NOT NULL,
	"size" numeric NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "exchange_credentials" ADD CONSTRAINT "exchange_credentials_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hooks" ADD CONSTRAINT "hooks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_attempts" ADD CONSTRAINT "order_attempts_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "position_closes" ADD CONSTRAINT "position_closes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "position_generator_logs" ADD CONSTRAINT "position_generator_logs_signal_id_signals_id_fk" FOREIGN KEY ("signal_id") REFERENCES "public"."signals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "position_generator_logs" ADD CONSTRAINT "position_generator_logs_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trade_events" ADD CONSTRAINT "trade_events_trade_id_trades_id_fk" FOREIGN KEY ("trade_id") REFERENCES "public"."trades"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trades" ADD CONSTRAINT "trades_position_generator_log_id_position_generator_logs_id_fk" FOREIGN KEY ("position_generator_log_id") REFERENCES "public"."position_generator_logs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trades" ADD CONSTRAINT "trades_signal_id_signals_id_fk" FOREIGN KEY ("signal_id") REFERENCES "public"."signals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trades" ADD CONSTRAINT "trades_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_settings" ADD CONSTRAINT "user_settings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflow_steps" ADD CONSTRAINT "workflow_steps_workflow_id_workflows_id_fk" FOREIGN KEY ("workflow_id") REFERENCES "public"."workflows"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflow_users" ADD CONSTRAINT "workflow_users_workflow_id_workflows_id_fk" FOREIGN KEY ("workflow_id") REFERENCES "public"."workflows"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflows" ADD CONSTRAINT "workflows_signal_id_signals_id_fk" FOREIGN KEY ("signal_id") REFERENCES "public"."signals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deliveries_hook" ON "deliveries" USING btree ("hook_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "order_attempts_number" ON "order_attempts" USING btree ("trade_id","attempt");--> statement-breakpoint
CREATE INDEX "position_closes_user" ON "position_closes" USING btree ("user_id","token","id");--> statement-breakpoint
CREATE INDEX "position_generator_logs_signal" ON "position_generator_logs" USING btree ("signal_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "position_generator_logs_workflow_user" ON "position_generator_logs" USING btree ("workflow_id","user_id");--> statement-breakpoint
CREATE INDEX "price_logs_received" ON "price_logs" USING btree ("received_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "price_logs_match" ON "price_logs" USING btree ("token","candle_time_server" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "price_logs_mark" ON "price_logs" USING btree ("token","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "signals_received" ON "signals" USING btree ("received_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "signals_mark" ON "signals" USING btree ("token","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "trade_events_trade" ON "trade_events" USING btree ("trade_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "trades_workflow_user" ON "trades" USING btree ("workflow_id","user_id");--> statement-breakpoint
CREATE INDEX "trades_signal" ON "trades" USING btree ("signal_id","id");--> statement-breakpoint
CREATE INDEX "trades_created" ON "trades" USING btree ("created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "trades_user_token" ON "trades" USING btree ("user_id","token");--> statement-breakpoint
CREATE INDEX "trades_unfinished" ON "trades" USING btree ("due_at") WHERE state <> 'done';--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_steps_number" ON "workflow_steps" USING btree ("workflow_id","step_number");--> statement-breakpoint
CREATE INDEX "workflows_created" ON "workflows" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "workflows_signal" ON "workflows" USING btree ("signal_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_one_automatic" ON "workflows" USING btree ("signal_id") WHERE trigger = 'automatic';--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_one_running" ON "workflows" USING btree ("signal_id") WHERE status in ('pending', 'processing');--> statement-breakpoint
CREATE INDEX "workflows_unfinished" ON "workflows" USING btree ("token","id") WHERE status in ('pending', 'processing');--> statement-breakpoint
CREATE INDEX "paper_fills_user" ON "paper_fills" USING btree ("user_id","token","id");--> statement-breakpoint
CREATE INDEX "paper_orders_pending" ON "paper_orders" USING btree ("token","user_id") WHERE state in ('live', 'partially_filled');--> statement-breakpoint
CREATE UNIQUE INDEX "paper_orders_pending_client_order_id" ON "paper_orders" USING btree ("user_id","client_order_id") WHERE state in ('live', 'partially_filled');--> statement-breakpoint
CREATE INDEX "paper_orders_client_order_id" ON "paper_orders" USING btree ("user_id","client_order_id");--> statement-breakpoint
CREATE INDEX "paper_positions_token" ON "paper_positions" USING btree ("token");--> statement-breakpoint
CREATE UNIQUE INDEX "paper_trigger_orders_live" ON "paper_trigger_orders" USING btree ("user_id","token","plan_type") WHERE state = 'live';