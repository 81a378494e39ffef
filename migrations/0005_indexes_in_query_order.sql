DROP INDEX "position_generator_logs_signal";--> statement-breakpoint
DROP INDEX "price_logs_received";--> statement-breakpoint
DROP INDEX "price_logs_match";--> statement-breakpoint
DROP INDEX "price_logs_mark";--> statement-breakpoint
DROP INDEX "signals_received";--> statement-breakpoint
DROP INDEX "signals_mark";--> statement-breakpoint
DROP INDEX "trades_created";--> statement-breakpoint
DROP INDEX "workflows_created";--> statement-breakpoint
DROP INDEX "workflows_signal";--> statement-breakpoint
CREATE INDEX "position_generator_logs_signal" ON "position_generator_logs" USING btree ("signal_id","id");--> statement-breakpoint
CREATE INDEX "price_logs_received" ON "price_logs" USING btree ("received_at","id");--> statement-breakpoint
CREATE INDEX "price_logs_match" ON "price_logs" USING btree ("token","candle_time_server");--> statement-breakpoint
CREATE INDEX "price_logs_mark" ON "price_logs" USING btree ("token","id");--> statement-breakpoint
CREATE INDEX "signals_received" ON "signals" USING btree ("received_at","id");--> statement-breakpoint
CREATE INDEX "signals_mark" ON "signals" USING btree ("token","id");--> statement-breakpoint
CREATE INDEX "trades_created" ON "trades" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "workflows_created" ON "workflows" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "workflows_signal" ON "workflows" USING btree ("signal_id","id");