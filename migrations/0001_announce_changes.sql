-- What changed is announced with the transaction that changed it, whoever wrote it: every instance listens, and tells
-- its browsers what to fetch again. Each trigger names a topic and a query over the changed rows that says which
-- records they belong to; many rows at once are announced without naming them.
CREATE FUNCTION announce_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most constant integer := 20;
  subjects jsonb[];
  subject jsonb;
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  IF TG_NARGS > 1 THEN
    EXECUTE format('SELECT array_agg(subject) FROM (SELECT DISTINCT %s AS subject FROM changed LIMIT %s) AS found', TG_ARGV[1], most + 1)
      INTO subjects;
  END IF;
  IF cardinality(subjects) BETWEEN 1 AND most THEN
    FOREACH subject IN ARRAY subjects LOOP
      PERFORM pg_notify('signal_board_changes', (jsonb_build_object('topic', TG_ARGV[0]) || subject)::text);
    END LOOP;
  ELSE
    PERFORM pg_notify('signal_board_changes', jsonb_build_object('topic', TG_ARGV[0])::text);
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER signals_insert_announced AFTER INSERT ON signals
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('signals');
--> statement-breakpoint
CREATE TRIGGER price_logs_insert_announced AFTER INSERT ON price_logs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('price-logs');
--> statement-breakpoint
CREATE TRIGGER workflows_insert_announced AFTER INSERT ON workflows
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflows', 'jsonb_build_object(''workflowId'', id, ''signalId'', signal_id)');
--> statement-breakpoint
CREATE TRIGGER workflows_update_announced AFTER UPDATE ON workflows
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflows', 'jsonb_build_object(''workflowId'', id, ''signalId'', signal_id)');
--> statement-breakpoint
CREATE TRIGGER workflow_steps_insert_announced AFTER INSERT ON workflow_steps
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-steps', 'jsonb_build_object(''workflowId'', workflow_id)');
--> statement-breakpoint
CREATE TRIGGER workflow_steps_update_announced AFTER UPDATE ON workflow_steps
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-steps', 'jsonb_build_object(''workflowId'', workflow_id)');
--> statement-breakpoint
CREATE TRIGGER workflow_users_insert_announced AFTER INSERT ON workflow_users
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-users', 'jsonb_build_object(''workflowId'', workflow_id)');
--> statement-breakpoint
CREATE TRIGGER workflow_users_update_announced AFTER UPDATE ON workflow_users
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-users', 'jsonb_build_object(''workflowId'', workflow_id)');
--> statement-breakpoint
CREATE TRIGGER trades_insert_announced AFTER INSERT ON trades
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_build_object(''tradeId'', id, ''signalId'', signal_id, ''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER trades_update_announced AFTER UPDATE ON trades
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_build_object(''tradeId'', id, ''signalId'', signal_id, ''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER trade_events_insert_announced AFTER INSERT ON trade_events
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades', 'jsonb_build_object(''tradeId'', trade_id)');
--> statement-breakpoint
CREATE TRIGGER position_generator_logs_insert_announced AFTER INSERT ON position_generator_logs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('calculations', 'jsonb_build_object(''signalId'', signal_id)');
--> statement-breakpoint
CREATE TRIGGER deliveries_insert_announced AFTER INSERT ON deliveries
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('deliveries', 'jsonb_build_object(''userId'', (SELECT user_id FROM hooks WHERE hooks.id = changed.hook_id))');
--> statement-breakpoint
CREATE TRIGGER hooks_insert_announced AFTER INSERT ON hooks
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER hooks_update_announced AFTER UPDATE ON hooks
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER hooks_delete_announced AFTER DELETE ON hooks
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER users_insert_announced AFTER INSERT ON users
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', id)');
--> statement-breakpoint
CREATE TRIGGER users_update_announced AFTER UPDATE ON users
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', id)');
--> statement-breakpoint
CREATE TRIGGER user_settings_insert_announced AFTER INSERT ON user_settings
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER user_settings_update_announced AFTER UPDATE ON user_settings
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER exchange_credentials_insert_announced AFTER INSERT ON exchange_credentials
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER exchange_credentials_update_announced AFTER UPDATE ON exchange_credentials
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER exchange_credentials_delete_announced AFTER DELETE ON exchange_credentials
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
--> statement-breakpoint
CREATE TRIGGER sessions_delete_announced AFTER DELETE ON sessions
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('sessions', 'jsonb_build_object(''userId'', user_id)');
