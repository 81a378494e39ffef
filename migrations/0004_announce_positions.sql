-- Closing orders and closed positions change what is shown of trades.
CREATE TRIGGER position_closes_insert_announced AFTER INSERT ON position_closes
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_strip_nulls(jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id))');
--> statement-breakpoint
CREATE TRIGGER position_closes_update_announced AFTER UPDATE ON position_closes
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_strip_nulls(jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id))');
--> statement-breakpoint
CREATE TRIGGER closed_positions_insert_announced AFTER INSERT ON closed_positions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id)');
