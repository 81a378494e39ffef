-- The schema that every database begins with; later migrations only add to it. It follows the order of the schema files
-- (server/platform/db/schema.ts, server/exchanges/paper/paper-schema.ts), which say what tables and columns are for.

-- ---- Announcements --------------------------------------------------------------------------------------------------

-- What changed is announced with the transaction that changed it: every instance listens and has its browsers fetch it
-- again. A trigger names a topic and a query for the records that changed; more than 20 are announced without naming
-- them. The busiest tables have their query written out here: it is planned once a connection, which takes longer than
-- the row that is announced.
CREATE FUNCTION announce_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most constant integer := 20;
  subjects jsonb[];
  subject jsonb;
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  CASE TG_TABLE_NAME
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
        EXECUTE format(
          'SELECT array_agg(subject) FROM (SELECT DISTINCT %s AS subject FROM changed LIMIT %s) AS found',
          TG_ARGV[1], most + 1)
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

-- ---- Accounts -------------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id uuid PRIMARY KEY,
  username text NOT NULL,
  username_key text NOT NULL,
  password_hash text NOT NULL,
  first_name text,
  last_name text,
  country_code text,
  mobile_number text,
  is_admin boolean NOT NULL DEFAULT false,
  is_active boolean NOT NULL DEFAULT true,
  is_test_user boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT users_username_key_unique UNIQUE (username_key)
);
CREATE TRIGGER users_insert_announced AFTER INSERT ON users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', id)');
CREATE TRIGGER users_update_announced AFTER UPDATE ON users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', id)');

CREATE TABLE user_settings (
  user_id uuid PRIMARY KEY CONSTRAINT user_settings_user_id_users_id_fk REFERENCES users,
  calculation_behavior text NOT NULL,
  market_type text NOT NULL,
  position_sizing_method text NOT NULL,
  investment_portion numeric,
  maximum_risk_per_trade numeric,
  exchange_platform text NOT NULL,
  signal_processor text NOT NULL,
  signal_timeframe text NOT NULL,
  active_trading boolean NOT NULL,
  trading_paused_until timestamptz(3),
  trade_order_set char(1) NOT NULL,
  opposite_signal text NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE TRIGGER user_settings_insert_announced AFTER INSERT ON user_settings REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER user_settings_update_announced AFTER UPDATE ON user_settings REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');

CREATE TABLE exchange_credentials (
  user_id uuid NOT NULL CONSTRAINT exchange_credentials_user_id_users_id_fk REFERENCES users,
  exchange_platform text NOT NULL,
  api_key_hint text NOT NULL,
  sealed text NOT NULL,
  account_mode text NOT NULL,
  exchange_mode text,
  account_id text,
  account_since timestamptz(3),
  inspected_at timestamptz(3),
  rejected_at timestamptz(3),
  rejected_reason text,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT exchange_credentials_user_id_exchange_platform_pk PRIMARY KEY (user_id, exchange_platform)
);
CREATE INDEX exchange_credentials_account ON exchange_credentials (exchange_platform, account_id);
CREATE TRIGGER exchange_credentials_insert_announced AFTER INSERT ON exchange_credentials
  REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER exchange_credentials_update_announced AFTER UPDATE ON exchange_credentials
  REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER exchange_credentials_delete_announced AFTER DELETE ON exchange_credentials
  REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('users', 'jsonb_build_object(''userId'', user_id)');

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL CONSTRAINT sessions_user_id_users_id_fk REFERENCES users,
  created_at timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  key_revealed_until timestamptz(3),
  CONSTRAINT sessions_token_hash_unique UNIQUE (token_hash)
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE TRIGGER sessions_delete_announced AFTER DELETE ON sessions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('sessions', 'jsonb_build_object(''userId'', user_id)');

CREATE TABLE rate_limits (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

CREATE TABLE password_guesses (
  account bytea PRIMARY KEY,
  guessed_at bigint[] NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX password_guesses_expiry ON password_guesses (expires_at);

CREATE TABLE known_addresses (
  user_id uuid NOT NULL CONSTRAINT known_addresses_user_id_users_id_fk REFERENCES users,
  address text NOT NULL,
  last_used_at timestamptz(3) NOT NULL,
  CONSTRAINT known_addresses_user_id_address_pk PRIMARY KEY (user_id, address)
);

-- ---- What comes in --------------------------------------------------------------------------------------------------

CREATE TABLE hooks (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL CONSTRAINT hooks_user_id_users_id_fk REFERENCES users,
  name text NOT NULL,
  key_hash bytea NOT NULL,
  key_sealed text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  suspended_at timestamptz(3),
  CONSTRAINT hooks_user_id_unique UNIQUE (user_id),
  CONSTRAINT hooks_key_hash_unique UNIQUE (key_hash)
);
CREATE TRIGGER hooks_insert_announced AFTER INSERT ON hooks REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER hooks_update_announced AFTER UPDATE ON hooks REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER hooks_delete_announced AFTER DELETE ON hooks REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('hooks', 'jsonb_build_object(''userId'', user_id)');

-- deliveries and price_logs have a partition for each month of their time-ordered ids, made ahead by the
-- program (partitions.ts). The default partition takes what has none: no delivery is refused because a clock is wrong.
-- Neither announces its rows: they are too many, so the program does, at most ten times a second.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  hook_id uuid NOT NULL,
  kind text NOT NULL,
  result text NOT NULL,
  reason text,
  source_ip text NOT NULL,
  record_id uuid,
  received_at timestamptz(3) NOT NULL
) PARTITION BY RANGE (id);
CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT;
CREATE INDEX deliveries_hook ON deliveries (hook_id, id);

-- The indexes of lists (also of signals and workflows) hold a filter's value, the order of the list, then the other
-- filters' columns: whatever the combination, the rows of a page are found in an index alone.
CREATE TABLE price_logs (
  id uuid PRIMARY KEY,
  hook_id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  from_admin boolean NOT NULL,
  token text NOT NULL,
  timeframe text NOT NULL,
  price numeric NOT NULL,
  currency text NOT NULL,
  processor text,
  candle_time_tradingview text NOT NULL,
  candle_time_server timestamptz(3) NOT NULL,
  received_at timestamptz(3) NOT NULL,
  source_ip text NOT NULL,
  hash_value text NOT NULL,
  parameters jsonb NOT NULL
) PARTITION BY RANGE (id);
CREATE TABLE price_logs_default PARTITION OF price_logs DEFAULT;
CREATE INDEX price_logs_list ON price_logs (received_at, id, token, timeframe, processor);
CREATE INDEX price_logs_list_token ON price_logs (token, received_at, id, timeframe, processor);
CREATE INDEX price_logs_list_timeframe ON price_logs (timeframe, received_at, id, token, processor);
CREATE INDEX price_logs_list_processor ON price_logs (processor, received_at, id, token, timeframe);
CREATE INDEX price_logs_series ON price_logs (token, timeframe, candle_time_server);
CREATE INDEX price_logs_mark ON price_logs (token, id);

-- The first partitions end with the month in which the database is made, and have no beginning: for the rows that a
-- restore brings.
DO $$
DECLARE
  month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month';
  first_id uuid := (rpad(lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0'), 32, '0'))::uuid;
  partitioned text;
BEGIN
  FOREACH partitioned IN ARRAY ARRAY['deliveries', 'price_logs'] LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L)',
      partitioned || to_char(month, '"_before_"YYYY"_"MM'), partitioned, first_id);
  END LOOP;
END
$$;

-- A unique key cannot span partitions: this table decides which candles are duplicates. BRIN, as it is only read when a
-- partition goes and costs a new row nothing.
CREATE TABLE price_log_hashes (
  hash_value bytea PRIMARY KEY,
  price_log_id uuid NOT NULL
);
CREATE INDEX price_log_hashes_log ON price_log_hashes USING brin (price_log_id);

CREATE TABLE signals (
  id uuid PRIMARY KEY,
  hook_id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  from_admin boolean NOT NULL,
  token text NOT NULL,
  action text NOT NULL,
  price numeric NOT NULL,
  currency text NOT NULL,
  timeframe text NOT NULL,
  processor text NOT NULL,
  signal_time_tradingview text,
  signal_time_server timestamptz(3),
  received_at timestamptz(3) NOT NULL,
  source_ip text NOT NULL,
  hash_value text NOT NULL,
  parameters jsonb NOT NULL
);
CREATE INDEX signals_list ON signals (received_at, id, token, timeframe, processor, action);
CREATE INDEX signals_list_token ON signals (token, received_at, id, timeframe, processor, action);
CREATE INDEX signals_list_timeframe ON signals (timeframe, received_at, id, token, processor, action);
CREATE INDEX signals_list_processor ON signals (processor, received_at, id, token, timeframe, action);
CREATE INDEX signals_mark ON signals (token, id);
CREATE TRIGGER signals_insert_announced AFTER INSERT ON signals REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('signals');

CREATE TABLE signal_hashes (
  hash_value text PRIMARY KEY,
  signal_id uuid NOT NULL,
  received_at timestamptz(3) NOT NULL,
  lasting boolean NOT NULL
);

-- ---- Totals of the long lists ---------------------------------------------------------------------------------------

CREATE TABLE counted_lists (
  list text PRIMARY KEY,
  counted_before uuid NOT NULL,
  clock_lag_ms bigint NOT NULL DEFAULT 0,
  clock_lag_seen_at timestamptz(3)
);

CREATE TABLE list_totals (
  list text NOT NULL,
  token text NOT NULL,
  action text NOT NULL,
  processor text NOT NULL,
  timeframe text NOT NULL,
  status text NOT NULL,
  rows bigint NOT NULL,
  CONSTRAINT list_totals_pk PRIMARY KEY (list, token, action, processor, timeframe, status)
);

CREATE TABLE list_totals_by_month (
  month date NOT NULL,
  list text NOT NULL,
  token text NOT NULL,
  action text NOT NULL,
  processor text NOT NULL,
  timeframe text NOT NULL,
  status text NOT NULL,
  rows bigint NOT NULL,
  CONSTRAINT list_totals_by_month_pk PRIMARY KEY (list, month, token, action, processor, timeframe, status)
);

CREATE TABLE signal_totals_by_quarter (
  since timestamptz(3) NOT NULL,
  action text NOT NULL,
  rows bigint NOT NULL,
  CONSTRAINT signal_totals_by_quarter_since_action_pk PRIMARY KEY (since, action)
);

CREATE TABLE list_choices (
  list text NOT NULL,
  "column" text NOT NULL,
  audience uuid NOT NULL,
  value text NOT NULL,
  rows bigint NOT NULL,
  CONSTRAINT list_choices_pk PRIMARY KEY (list, "column", audience, value)
);
CREATE INDEX list_choices_most ON list_choices (list, "column", audience, rows DESC, value);

-- ---- Automation -----------------------------------------------------------------------------------------------------

CREATE TABLE workflows (
  id uuid PRIMARY KEY,
  signal_id uuid NOT NULL CONSTRAINT workflows_signal_id_signals_id_fk REFERENCES signals,
  trigger text NOT NULL,
  trigger_reason text,
  status text NOT NULL,
  token text NOT NULL,
  processor text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  eligible_users_count integer NOT NULL DEFAULT 0,
  successful_users_count integer NOT NULL DEFAULT 0,
  error_message text,
  error_details jsonb,
  failed_tries integer NOT NULL DEFAULT 0,
  is_own boolean NOT NULL DEFAULT false
);
CREATE INDEX workflows_list ON workflows (created_at, id, processor, status);
CREATE INDEX workflows_list_processor ON workflows (processor, created_at, id, status);
CREATE INDEX workflows_list_status ON workflows (status, created_at, id, processor);
CREATE INDEX workflows_signal ON workflows (signal_id, id);
CREATE UNIQUE INDEX workflows_one_automatic ON workflows (signal_id) WHERE trigger = 'automatic';
CREATE UNIQUE INDEX workflows_one_running ON workflows (signal_id) WHERE status in ('pending', 'processing');
CREATE INDEX workflows_waiting ON workflows (token, is_own, id) WHERE status in ('pending', 'processing');
CREATE TRIGGER workflows_insert_announced AFTER INSERT ON workflows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflows');
CREATE TRIGGER workflows_update_announced AFTER UPDATE ON workflows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflows');

CREATE TABLE processing_slots (
  token text PRIMARY KEY,
  workflow_id uuid NOT NULL,
  acquired_at timestamptz(3) NOT NULL
);

CREATE TABLE workflow_steps (
  id uuid PRIMARY KEY,
  workflow_id uuid NOT NULL CONSTRAINT workflow_steps_workflow_id_workflows_id_fk REFERENCES workflows,
  step_number integer NOT NULL,
  step_name text NOT NULL,
  step_type text NOT NULL,
  user_id uuid,
  status text NOT NULL,
  input_data jsonb,
  output_data jsonb,
  metadata jsonb,
  error_message text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  execution_time_ms integer,
  processor_name text
);
CREATE UNIQUE INDEX workflow_steps_number ON workflow_steps (workflow_id, step_number);
CREATE TRIGGER workflow_steps_insert_announced AFTER INSERT ON workflow_steps REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-steps');
CREATE TRIGGER workflow_steps_update_announced AFTER UPDATE ON workflow_steps REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-steps');

CREATE TABLE workflow_users (
  workflow_id uuid NOT NULL CONSTRAINT workflow_users_workflow_id_workflows_id_fk REFERENCES workflows,
  user_id uuid NOT NULL,
  username text NOT NULL,
  position integer,
  status text NOT NULL,
  reason text NOT NULL,
  rule text NOT NULL,
  saw text NOT NULL,
  wanted text NOT NULL,
  layer integer,
  outcome text,
  failed_tries integer NOT NULL DEFAULT 0,
  CONSTRAINT workflow_users_workflow_id_user_id_pk PRIMARY KEY (workflow_id, user_id)
);
CREATE INDEX workflow_users_order ON workflow_users (workflow_id, position);
CREATE TRIGGER workflow_users_insert_announced AFTER INSERT ON workflow_users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-users');
CREATE TRIGGER workflow_users_update_announced AFTER UPDATE ON workflow_users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('workflow-users');

-- ---- Positions and orders -------------------------------------------------------------------------------------------

CREATE TABLE position_generator_logs (
  id uuid PRIMARY KEY,
  signal_id uuid NOT NULL CONSTRAINT position_generator_logs_signal_id_signals_id_fk REFERENCES signals,
  price_log_id uuid,
  user_id uuid NOT NULL CONSTRAINT position_generator_logs_user_id_users_id_fk REFERENCES users,
  workflow_id uuid,
  profile text NOT NULL,
  exchange_platform text NOT NULL,
  token text NOT NULL,
  success boolean NOT NULL,
  is_estimate boolean NOT NULL DEFAULT false,
  error text,
  position jsonb,
  settings jsonb NOT NULL,
  calculation_reason text,
  calculation_detail text,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX position_generator_logs_signal ON position_generator_logs (signal_id, id);
CREATE UNIQUE INDEX position_generator_logs_workflow_user ON position_generator_logs (workflow_id, user_id);
CREATE TRIGGER position_generator_logs_insert_announced AFTER INSERT ON position_generator_logs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('calculations');

CREATE TABLE account_balances (
  user_id uuid NOT NULL CONSTRAINT account_balances_user_id_users_id_fk REFERENCES users,
  exchange_platform text NOT NULL,
  futures_available numeric NOT NULL,
  read_at timestamptz(3) NOT NULL,
  CONSTRAINT account_balances_user_id_exchange_platform_pk PRIMARY KEY (user_id, exchange_platform)
);

CREATE TABLE trades (
  id uuid PRIMARY KEY,
  position_generator_log_id uuid NOT NULL
    CONSTRAINT trades_position_generator_log_id_position_generator_logs_id_fk REFERENCES position_generator_logs,
  workflow_id uuid,
  signal_id uuid NOT NULL CONSTRAINT trades_signal_id_signals_id_fk REFERENCES signals,
  user_id uuid NOT NULL CONSTRAINT trades_user_id_users_id_fk REFERENCES users,
  trigger_type text NOT NULL,
  profile text NOT NULL,
  exchange_platform text NOT NULL,
  token text NOT NULL,
  side text NOT NULL,
  planned_quantity numeric NOT NULL,
  entry_price numeric NOT NULL,
  stop_loss numeric NOT NULL,
  take_profit numeric NOT NULL,
  leverage integer NOT NULL,
  planned_margin numeric NOT NULL,
  state text NOT NULL,
  success boolean,
  fill_status text,
  error text,
  order_id text,
  filled_quantity numeric NOT NULL DEFAULT '0',
  average_price numeric,
  fee numeric,
  protection_status text,
  exchange_response jsonb,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  due_at timestamptz(3),
  position_closed_at timestamptz(3),
  unprotected_since timestamptz(3),
  protected_quantity numeric,
  exchange_mode text,
  exchange_account_id text,
  written_off_by uuid CONSTRAINT trades_written_off_by_users_id_fk REFERENCES users,
  written_off_at timestamptz(3),
  restored_at timestamptz(3),
  CONSTRAINT trades_position_generator_log_id_unique UNIQUE (position_generator_log_id)
);
CREATE UNIQUE INDEX trades_workflow_user ON trades (workflow_id, user_id);
CREATE INDEX trades_signal ON trades (signal_id, id);
CREATE INDEX trades_created ON trades (created_at);
CREATE INDEX trades_user_token ON trades (user_id, token);
CREATE INDEX trades_unfinished ON trades (due_at) WHERE state <> 'done';
CREATE INDEX trades_position_open ON trades (user_id, token)
  WHERE position_closed_at is null and (state <> 'done' or fill_status in ('filled', 'partial'));
CREATE TRIGGER trades_insert_announced AFTER INSERT ON trades REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades');
CREATE TRIGGER trades_update_announced AFTER UPDATE ON trades REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades');

CREATE TABLE order_attempts (
  id uuid PRIMARY KEY,
  trade_id uuid NOT NULL CONSTRAINT order_attempts_trade_id_trades_id_fk REFERENCES trades,
  attempt integer NOT NULL,
  client_order_id text NOT NULL,
  price numeric NOT NULL,
  quantity numeric NOT NULL,
  state text NOT NULL,
  order_id text,
  filled_quantity numeric NOT NULL DEFAULT '0',
  average_price numeric,
  fee numeric,
  error text,
  submitted_at timestamptz(3),
  lookup_misses integer NOT NULL DEFAULT 0,
  placement_tries integer NOT NULL DEFAULT 0,
  doubt text,
  verify_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  finished_at timestamptz(3),
  order_payload jsonb,
  raw jsonb,
  CONSTRAINT order_attempts_client_order_id_unique UNIQUE (client_order_id)
);
CREATE UNIQUE INDEX order_attempts_number ON order_attempts (trade_id, attempt);

CREATE TABLE trade_events (
  id uuid PRIMARY KEY,
  trade_id uuid NOT NULL CONSTRAINT trade_events_trade_id_trades_id_fk REFERENCES trades,
  at timestamptz(3) NOT NULL,
  kind text NOT NULL,
  text text NOT NULL,
  data jsonb
);
CREATE INDEX trade_events_trade ON trade_events (trade_id, id);
CREATE TRIGGER trade_events_insert_announced AFTER INSERT ON trade_events REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades');

CREATE TABLE position_closes (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL CONSTRAINT position_closes_user_id_users_id_fk REFERENCES users,
  exchange_platform text NOT NULL,
  token text NOT NULL,
  side text NOT NULL,
  quantity numeric NOT NULL,
  reason text NOT NULL,
  workflow_id uuid,
  trade_id uuid,
  client_order_id text NOT NULL,
  state text NOT NULL,
  order_id text,
  average_price numeric,
  error text,
  requested_by uuid CONSTRAINT position_closes_requested_by_users_id_fk REFERENCES users,
  created_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  CONSTRAINT position_closes_client_order_id_unique UNIQUE (client_order_id)
);
CREATE INDEX position_closes_user ON position_closes (user_id, token, id);
CREATE TRIGGER position_closes_insert_announced AFTER INSERT ON position_closes REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades',
    'jsonb_strip_nulls(jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id))');
CREATE TRIGGER position_closes_update_announced AFTER UPDATE ON position_closes REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades',
    'jsonb_strip_nulls(jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id))');

CREATE TABLE closed_positions (
  id uuid PRIMARY KEY,
  trade_id uuid NOT NULL CONSTRAINT closed_positions_trade_id_trades_id_fk REFERENCES trades,
  user_id uuid NOT NULL CONSTRAINT closed_positions_user_id_users_id_fk REFERENCES users,
  exchange_platform text NOT NULL,
  exchange_position_id text,
  token text NOT NULL,
  side text NOT NULL,
  quantity numeric NOT NULL,
  entry_price numeric NOT NULL,
  close_price numeric,
  realised_profit numeric,
  fees numeric,
  closed_by text NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  closed_at timestamptz(3) NOT NULL,
  recorded_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX closed_positions_exchange ON closed_positions (user_id, exchange_platform, exchange_position_id);
CREATE UNIQUE INDEX closed_positions_untold ON closed_positions (trade_id) WHERE exchange_position_id is null;
CREATE INDEX closed_positions_closed ON closed_positions (closed_at, id);
CREATE INDEX closed_positions_user ON closed_positions (user_id, closed_at);
CREATE INDEX closed_positions_list_token ON closed_positions (token, closed_at, id);
CREATE TRIGGER closed_positions_insert_announced AFTER INSERT ON closed_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trades',
    'jsonb_build_object(''tradeId'', trade_id, ''userId'', user_id)');

CREATE TABLE closed_position_totals (
  user_id uuid NOT NULL CONSTRAINT closed_position_totals_user_id_users_id_fk REFERENCES users,
  token text NOT NULL,
  positions bigint NOT NULL,
  realised_profit numeric NOT NULL,
  fees numeric NOT NULL,
  profit_after_fees numeric NOT NULL,
  CONSTRAINT closed_position_totals_pk PRIMARY KEY (user_id, token)
);
CREATE INDEX closed_position_totals_token ON closed_position_totals (token);

-- The sums change in the commit that changes closed positions. A user's rows in a token change seldom, one at a
-- time, so nobody waits long for the row of their sums.
CREATE FUNCTION add_up_closed_positions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO closed_position_totals AS known (user_id, token, positions, realised_profit, fees, profit_after_fees)
  SELECT user_id, token, sign * count(*), sign * coalesce(sum(realised_profit), 0), sign * coalesce(sum(fees), 0),
    sign * coalesce(sum(realised_profit - coalesce(fees, 0)), 0)
  FROM changed, (SELECT CASE TG_ARGV[0] WHEN 'added' THEN 1 ELSE -1 END AS sign) AS direction
  GROUP BY user_id, token, sign ORDER BY user_id, token
  ON CONFLICT (user_id, token) DO UPDATE SET
    positions = known.positions + excluded.positions,
    realised_profit = known.realised_profit + excluded.realised_profit,
    fees = known.fees + excluded.fees,
    profit_after_fees = known.profit_after_fees + excluded.profit_after_fees;
  RETURN NULL;
END
$$;
CREATE TRIGGER closed_positions_insert_added_up AFTER INSERT ON closed_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('added');
CREATE TRIGGER closed_positions_delete_added_up AFTER DELETE ON closed_positions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('removed');
CREATE TRIGGER closed_positions_update_taken_off AFTER UPDATE ON closed_positions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('removed');
CREATE TRIGGER closed_positions_update_added_up AFTER UPDATE ON closed_positions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_up_closed_positions('added');

CREATE TABLE trading_halts (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL CONSTRAINT trading_halts_user_id_users_id_fk REFERENCES users,
  exchange_platform text NOT NULL,
  token text NOT NULL,
  trade_id uuid CONSTRAINT trading_halts_trade_id_trades_id_fk REFERENCES trades,
  kind text NOT NULL,
  reason text NOT NULL,
  since timestamptz(3) NOT NULL,
  cleared_at timestamptz(3),
  cleared_how text,
  ended_at timestamptz(3),
  ended_by uuid CONSTRAINT trading_halts_ended_by_users_id_fk REFERENCES users
);
CREATE UNIQUE INDEX trading_halts_one_a_position ON trading_halts (user_id, exchange_platform, token)
  WHERE ended_at is null;
CREATE INDEX trading_halts_ended ON trading_halts (ended_at);
CREATE TRIGGER trading_halts_insert_announced AFTER INSERT ON trading_halts REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-halts', 'jsonb_build_object(''userId'', user_id)');
CREATE TRIGGER trading_halts_update_announced AFTER UPDATE ON trading_halts REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION announce_changes('trading-halts', 'jsonb_build_object(''userId'', user_id)');

-- ---- The engine -----------------------------------------------------------------------------------------------------

CREATE TABLE engine_workers (
  instance_id text NOT NULL,
  worker_id text NOT NULL,
  is_active boolean NOT NULL,
  current_tasks integer NOT NULL,
  max_concurrent integer NOT NULL,
  processed_tasks bigint NOT NULL,
  last_activity timestamptz(3),
  started_at timestamptz(3) NOT NULL,
  heartbeat_at timestamptz(3) NOT NULL,
  CONSTRAINT engine_workers_instance_id_worker_id_pk PRIMARY KEY (instance_id, worker_id)
);

CREATE TABLE engine_restarts (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  requested_by uuid NOT NULL CONSTRAINT engine_restarts_requested_by_users_id_fk REFERENCES users,
  requested_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3)
);
CREATE UNIQUE INDEX engine_restarts_one_running ON engine_restarts ((finished_at is null)) WHERE finished_at is null;

CREATE TABLE engine_restart_answers (
  restart_id bigint NOT NULL
    CONSTRAINT engine_restart_answers_restart_id_engine_restarts_id_fk REFERENCES engine_restarts,
  instance_id text NOT NULL,
  error text,
  answered_at timestamptz(3) NOT NULL,
  CONSTRAINT engine_restart_answers_restart_id_instance_id_pk PRIMARY KEY (restart_id, instance_id)
);

CREATE TABLE leases (
  key text PRIMARY KEY,
  holder text NOT NULL,
  version bigint GENERATED BY DEFAULT AS IDENTITY,
  lease_until timestamptz(3) NOT NULL
);

-- ---- Limits of the exchanges ----------------------------------------------------------------------------------------

-- Unlogged: shared by all instances, and worth nothing after a crash.
CREATE UNLOGGED TABLE exchange_slots (
  key text PRIMARY KEY,
  next_at_ms double precision NOT NULL DEFAULT 0,
  taken_ms double precision[] NOT NULL DEFAULT '{}',
  held_until_ms double precision NOT NULL DEFAULT 0,
  hold_ms double precision NOT NULL DEFAULT 0,
  hold_named boolean NOT NULL DEFAULT false,
  probe_until_ms double precision NOT NULL DEFAULT 0,
  doubted_by text
);

CREATE UNLOGGED TABLE exchange_preparations (
  platform text NOT NULL,
  user_id text NOT NULL,
  token text NOT NULL,
  leverage integer NOT NULL,
  key_hash text NOT NULL,
  prepared_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT exchange_preparations_platform_user_id_token_pk PRIMARY KEY (platform, user_id, token)
);

-- The rules of holds are those of server/exchanges/limits/rate-holds.ts.
CREATE FUNCTION exchange_hold_wait_ms(
  held_until_ms double precision, hold_ms double precision, probe_until_ms double precision,
  rank integer, at_ms double precision, step_ms double precision, poll_ms double precision
) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN at_ms < held_until_ms THEN held_until_ms + rank * step_ms - at_ms
    WHEN hold_ms = 0 THEN 0
    WHEN at_ms < probe_until_ms THEN least(probe_until_ms - at_ms, poll_ms)
    ELSE greatest(greatest(held_until_ms, probe_until_ms) + rank * step_ms - at_ms, 0)
  END
$$;

-- Asks for requests to leave through one address, in their order: each takes a slot of the address and one of its own
-- limit, or none of them and gets the time to wait. A request that leaves although a hold is not over is its probe:
-- `egress_probe` and `bucket_probe` are then the `held_until_ms` of the hold. An address whose hold was inferred lets
-- requests of rank 0 leave at any time.
CREATE FUNCTION take_exchange_turns(
  egress text, egress_interval_ms double precision, egress_rooms_ms double precision[], ranks integer[],
  accounts text[], buckets text[], windows_ms double precision[], most integer[],
  step_ms double precision, poll_ms double precision, probe_ms double precision
) RETURNS TABLE (
  blocked_by text, wait_ms double precision, is_held boolean,
  egress_probe double precision, bucket_probe double precision
) LANGUAGE plpgsql AS $$
DECLARE
  at_ms double precision;
  address exchange_slots%ROWTYPE;
  bucket exchange_slots%ROWTYPE;
  bucket_taken double precision[];
  egress_hold double precision;
  egress_wait double precision;
  bucket_hold double precision;
  bucket_wait double precision;
BEGIN
  INSERT INTO exchange_slots (key)
    SELECT DISTINCT k FROM unnest(buckets || egress) AS k ORDER BY k ON CONFLICT DO NOTHING;
  -- In one order for everybody, so that no two wait for each other.
  PERFORM FROM exchange_slots WHERE key = ANY (buckets || egress) ORDER BY key FOR UPDATE;
  at_ms := extract(epoch FROM clock_timestamp()) * 1000;
  SELECT s.* INTO address FROM exchange_slots s WHERE s.key = egress;
  FOR i IN 1 .. coalesce(cardinality(buckets), 0) LOOP
    SELECT s.* INTO bucket FROM exchange_slots s WHERE s.key = buckets[i];
    bucket_taken := ARRAY(SELECT t FROM unnest(bucket.taken_ms) AS t WHERE t > at_ms - windows_ms[i] ORDER BY t);

    egress_hold := exchange_hold_wait_ms(
      address.held_until_ms, address.hold_ms, address.probe_until_ms, ranks[i], at_ms, step_ms, poll_ms);
    IF ranks[i] = 0 AND address.hold_ms > 0 AND NOT address.hold_named THEN
      egress_hold := 0;
    END IF;
    egress_wait := greatest(address.next_at_ms - at_ms - egress_rooms_ms[i], egress_hold, 0);

    bucket_hold := exchange_hold_wait_ms(
      bucket.held_until_ms, bucket.hold_ms, bucket.probe_until_ms, ranks[i], at_ms, step_ms, poll_ms);
    -- The account whose probe was refused waits as if the hold had doubled, and nobody waits behind it.
    IF ranks[i] > 0 AND address.hold_ms > 0 AND address.doubted_by = accounts[i] THEN
      bucket_hold := greatest(bucket_hold, address.probe_until_ms + 2 * address.hold_ms - at_ms);
    END IF;
    bucket_wait := bucket_hold;
    IF cardinality(bucket_taken) >= most[i] THEN
      bucket_wait := greatest(bucket_wait, bucket_taken[cardinality(bucket_taken) - most[i] + 1] + windows_ms[i] - at_ms);
    END IF;

    wait_ms := greatest(egress_wait, bucket_wait);
    blocked_by := CASE WHEN wait_ms = 0 THEN NULL WHEN bucket_wait > 0 THEN 'bucket' ELSE 'egress' END;
    is_held := CASE blocked_by WHEN 'bucket' THEN bucket_hold > 0 WHEN 'egress' THEN egress_hold > 0 ELSE false END;
    egress_probe := NULL;
    bucket_probe := NULL;
    IF wait_ms = 0 THEN
      address.next_at_ms := greatest(address.next_at_ms, at_ms) + egress_interval_ms;
      IF address.hold_ms > 0 THEN
        egress_probe := address.held_until_ms;
        IF at_ms >= address.held_until_ms AND at_ms >= address.probe_until_ms THEN
          address.probe_until_ms := at_ms + probe_ms;
        END IF;
      END IF;
      IF bucket.hold_ms > 0 THEN
        bucket_probe := bucket.held_until_ms;
      END IF;
      UPDATE exchange_slots s
        SET taken_ms = bucket_taken || at_ms, next_at_ms = at_ms,
            probe_until_ms = CASE WHEN bucket.hold_ms > 0 THEN at_ms + probe_ms ELSE s.probe_until_ms END
        WHERE s.key = buckets[i];
    END IF;
    RETURN NEXT;
  END LOOP;
  UPDATE exchange_slots s SET next_at_ms = address.next_at_ms, probe_until_ms = address.probe_until_ms
    WHERE s.key = egress
      AND (s.next_at_ms, s.probe_until_ms) IS DISTINCT FROM (address.next_at_ms, address.probe_until_ms);
END
$$;

-- What a refusal does to a hold: `named` unless the hold of an address is inferred, `probe_of` the `held_until_ms` of
-- the hold that the refused request probed. Answers to requests that left before the hold change nothing.
CREATE FUNCTION hold_exchange_key(
  hold_key text, account text, named boolean, asked_ms double precision,
  first_ms double precision, longest_ms double precision, longest_asked_ms double precision,
  probe_of double precision
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at_ms double precision;
  held exchange_slots%ROWTYPE;
  asked double precision := least(coalesce(asked_ms, 0), longest_asked_ms);
  own_ms double precision := NULL;
BEGIN
  INSERT INTO exchange_slots (key) VALUES (hold_key) ON CONFLICT DO NOTHING;
  SELECT s.* INTO held FROM exchange_slots s WHERE s.key = hold_key FOR UPDATE;
  at_ms := extract(epoch FROM clock_timestamp()) * 1000;
  IF held.hold_ms = 0 THEN
    IF NOT named AND probe_of IS NOT NULL THEN RETURN; END IF;
    own_ms := first_ms;
  ELSIF named AND NOT held.hold_named THEN
    own_ms := first_ms;
  ELSIF probe_of IS DISTINCT FROM held.held_until_ms THEN
    IF asked = 0 OR at_ms + asked <= held.held_until_ms THEN RETURN; END IF;
    own_ms := asked;
  ELSIF named THEN
    own_ms := 2 * held.hold_ms;
  ELSIF held.hold_named THEN
    -- The probe met a limit of its own account: the exchange, which named the address before, lets it through again.
    UPDATE exchange_slots s SET held_until_ms = 0, hold_ms = 0, hold_named = false, probe_until_ms = 0, doubted_by = NULL
      WHERE s.key = hold_key;
    RETURN;
  ELSIF at_ms < held.held_until_ms THEN
    RETURN;
  ELSIF held.doubted_by IS NULL OR held.doubted_by = account THEN
    -- An account may be refused for itself: only a second one confirms that it is the address.
    UPDATE exchange_slots s SET doubted_by = account, probe_until_ms = at_ms WHERE s.key = hold_key;
    RETURN;
  ELSE
    own_ms := 2 * held.hold_ms;
  END IF;
  own_ms := greatest(least(own_ms, longest_ms), asked);
  UPDATE exchange_slots s
    SET held_until_ms = at_ms + own_ms, hold_ms = own_ms, hold_named = named, probe_until_ms = 0, doubted_by = NULL
    WHERE s.key = hold_key;
END
$$;

-- ---- Secrets --------------------------------------------------------------------------------------------------------

CREATE TABLE secret_key_checks (
  is_only boolean PRIMARY KEY DEFAULT true,
  key_check bytea,
  CONSTRAINT secret_key_checks_one CHECK (is_only)
);

-- ---- The paper exchange ---------------------------------------------------------------------------------------------

-- Its books stand alone: no foreign key leads out of them. Ids begin high, as those of an exchange do, each kind apart.
CREATE TABLE paper_accounts (
  user_id uuid NOT NULL,
  platform text NOT NULL,
  balance numeric NOT NULL,
  realised_profit numeric NOT NULL DEFAULT '0',
  fees_paid numeric NOT NULL DEFAULT '0',
  position_mode text NOT NULL,
  margin_mode text,
  opened_at timestamptz(3) NOT NULL,
  CONSTRAINT paper_accounts_user_id_platform_pk PRIMARY KEY (user_id, platform)
);

CREATE TABLE paper_token_settings (
  user_id uuid NOT NULL,
  platform text NOT NULL,
  token text NOT NULL,
  leverage integer NOT NULL,
  margin_mode text NOT NULL,
  position_mode text,
  mark_cursor text,
  CONSTRAINT paper_token_settings_user_id_platform_token_pk PRIMARY KEY (user_id, platform, token)
);

CREATE TABLE paper_orders (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 1300000000000000000),
  user_id uuid NOT NULL,
  platform text NOT NULL,
  token text NOT NULL,
  client_order_id text NOT NULL,
  side text NOT NULL,
  order_type text NOT NULL,
  reduce_only boolean NOT NULL,
  price numeric,
  size numeric NOT NULL,
  filled_size numeric NOT NULL DEFAULT '0',
  filled_value numeric NOT NULL DEFAULT '0',
  fee numeric NOT NULL DEFAULT '0',
  profit numeric NOT NULL DEFAULT '0',
  leverage integer NOT NULL,
  margin_mode text NOT NULL,
  position_mode text NOT NULL,
  preset_stop_loss numeric,
  preset_take_profit numeric,
  state text NOT NULL,
  source text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT paper_orders_filled CHECK (filled_size >= 0 and filled_size <= size)
);
CREATE INDEX paper_orders_pending ON paper_orders (token, user_id) WHERE state in ('live', 'partially_filled');
CREATE UNIQUE INDEX paper_orders_pending_client_order_id ON paper_orders (user_id, platform, client_order_id)
  WHERE state in ('live', 'partially_filled');
CREATE INDEX paper_orders_client_order_id ON paper_orders (user_id, platform, client_order_id);

CREATE TABLE paper_positions (
  user_id uuid NOT NULL,
  platform text NOT NULL,
  token text NOT NULL,
  side text NOT NULL,
  size numeric NOT NULL,
  entry_price numeric NOT NULL,
  margin numeric NOT NULL,
  leverage integer NOT NULL,
  margin_mode text NOT NULL,
  realised_profit numeric NOT NULL DEFAULT '0',
  opened_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT paper_positions_user_id_platform_token_pk PRIMARY KEY (user_id, platform, token),
  CONSTRAINT paper_positions_size CHECK (size > 0)
);
CREATE INDEX paper_positions_token ON paper_positions (token);

CREATE TABLE paper_trigger_orders (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 1400000000000000000),
  user_id uuid NOT NULL,
  platform text NOT NULL,
  token text NOT NULL,
  client_order_id text NOT NULL,
  plan_type text NOT NULL,
  hold_side text NOT NULL,
  trigger_price numeric NOT NULL,
  size numeric NOT NULL,
  state text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX paper_trigger_orders_live ON paper_trigger_orders (user_id, platform, token, plan_type)
  WHERE state = 'live';

CREATE TABLE paper_fills (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 1500000000000000000),
  user_id uuid NOT NULL,
  platform text NOT NULL,
  token text NOT NULL,
  order_id bigint NOT NULL,
  side text NOT NULL,
  price numeric NOT NULL,
  size numeric NOT NULL,
  value numeric NOT NULL,
  fee numeric NOT NULL,
  profit numeric NOT NULL,
  liquidity text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX paper_fills_user ON paper_fills (user_id, platform, token, id);
