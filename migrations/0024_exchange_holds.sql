ALTER TABLE "exchange_slots" ADD COLUMN "hold_ms" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "exchange_slots" ADD COLUMN "hold_named" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "exchange_slots" ADD COLUMN "probe_until_ms" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "exchange_slots" ADD COLUMN "doubted_by" text;--> statement-breakpoint
-- The rules of holds are those of server/exchanges/rate-holds.ts. take_exchange_slots stays for the version before.
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
--> statement-breakpoint
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
--> statement-breakpoint
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
