-- What the busiest tables announce is written out here, as their triggers' arguments say it for those that are not: a
-- statement written out is planned once a connection, and planning took longer than the row that was announced.
CREATE OR REPLACE FUNCTION announce_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most constant integer := 20;
  subjects jsonb[];
  subject jsonb;
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  CASE TG_TABLE_NAME
    WHEN 'deliveries' THEN
      SELECT array_agg(jsonb_build_object('userId', user_id)) INTO subjects
      FROM (SELECT DISTINCT hooks.user_id FROM (SELECT DISTINCT hook_id FROM changed) AS delivered
        LEFT JOIN hooks ON hooks.id = delivered.hook_id LIMIT most + 1) AS found;
    WHEN 'workflows' THEN
      SELECT array_agg(jsonb_build_object('workflowId', id, 'signalId', signal_id)) INTO subjects
      FROM (SELECT DISTINCT id, signal_id FROM changed LIMIT most + 1) AS found;
    WHEN 'workflow_steps', 'workflow_users' THEN
      SELECT array_agg(jsonb_build_object('workflowId', workflow_id)) INTO subjects
      FROM (SELECT DISTINCT workflow_id FROM changed LIMIT most + 1) AS found;
    WHEN 'position_generator_logs' THEN
      SELECT array_agg(jsonb_build_object('signalId', signal_id)) INTO subjects
      FROM (SELECT DISTINCT signal_id FROM changed LIMIT most + 1) AS found;
    WHEN 'trades' THEN
      SELECT array_agg(jsonb_build_object('tradeId', id, 'signalId', signal_id, 'userId', user_id)) INTO subjects
      FROM (SELECT DISTINCT id, signal_id, user_id FROM changed LIMIT most + 1) AS found;
    WHEN 'trade_events' THEN
      SELECT array_agg(jsonb_build_object('tradeId', trade_id)) INTO subjects
      FROM (SELECT DISTINCT trade_id FROM changed LIMIT most + 1) AS found;
    ELSE
      IF TG_NARGS > 1 THEN
        EXECUTE format('SELECT array_agg(subject) FROM (SELECT DISTINCT %s AS subject FROM changed LIMIT %s) AS found', TG_ARGV[1], most + 1)
          INTO subjects;
      END IF;
  END CASE;
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
