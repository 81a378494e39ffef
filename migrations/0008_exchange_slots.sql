CREATE UNLOGGED TABLE "exchange_preparations" (
	"platform" text NOT NULL,
	"user_id" text NOT NULL,
	"token" text NOT NULL,
	"leverage" integer NOT NULL,
	"key_hash" text NOT NULL,
	"prepared_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "exchange_preparations_platform_user_id_token_pk" PRIMARY KEY("platform","user_id","token")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "exchange_slots" (
	"key" text PRIMARY KEY NOT NULL,
	"next_at_ms" double precision DEFAULT 0 NOT NULL,
	"taken_ms" double precision[] DEFAULT '{}' NOT NULL,
	"held_until_ms" double precision DEFAULT 0 NOT NULL
);
--> statement-breakpoint
-- Asks for requests to leave through one address, in their order: each takes a slot of the address and one of its own
-- limit, or none of them and is told how long to wait. The address is ahead of the clock by what was taken; a request
-- may find it ahead by its room at most, so that a smaller room leaves slots to those with a larger one. The limit of
-- a user's endpoint is so many requests within a window; who may use fewer of them leaves the rest to others.
CREATE FUNCTION take_exchange_slots(
  egress text, egress_interval_ms double precision, egress_rooms_ms double precision[],
  buckets text[], windows_ms double precision[], most integer[]
) RETURNS TABLE (blocked_by text, wait_ms double precision) LANGUAGE plpgsql AS $$
DECLARE
  at_ms double precision;
  egress_next double precision;
  egress_held double precision;
  bucket_taken double precision[];
  bucket_held double precision;
  egress_wait double precision;
  bucket_wait double precision;
BEGIN
  INSERT INTO exchange_slots (key)
    SELECT DISTINCT k FROM unnest(buckets || egress) AS k ORDER BY k ON CONFLICT DO NOTHING;
  -- In one order for everybody, so that nobody waits for one who waits for him.
  PERFORM FROM exchange_slots WHERE key = ANY (buckets || egress) ORDER BY key FOR UPDATE;
  at_ms := extract(epoch FROM clock_timestamp()) * 1000;
  SELECT s.next_at_ms, s.held_until_ms INTO egress_next, egress_held FROM exchange_slots s WHERE s.key = egress;
  FOR i IN 1 .. coalesce(cardinality(buckets), 0) LOOP
    SELECT s.held_until_ms, ARRAY(SELECT t FROM unnest(s.taken_ms) AS t WHERE t > at_ms - windows_ms[i] ORDER BY t)
      INTO bucket_held, bucket_taken FROM exchange_slots s WHERE s.key = buckets[i];
    egress_wait := greatest(egress_next - at_ms - egress_rooms_ms[i], egress_held - at_ms, 0);
    bucket_wait := greatest(bucket_held - at_ms, 0);
    IF cardinality(bucket_taken) >= most[i] THEN
      bucket_wait := greatest(bucket_wait, bucket_taken[cardinality(bucket_taken) - most[i] + 1] + windows_ms[i] - at_ms);
    END IF;
    wait_ms := greatest(egress_wait, bucket_wait);
    blocked_by := CASE WHEN wait_ms = 0 THEN NULL WHEN bucket_wait > 0 THEN 'bucket' ELSE 'egress' END;
    IF wait_ms = 0 THEN
      egress_next := greatest(egress_next, at_ms) + egress_interval_ms;
      UPDATE exchange_slots s SET taken_ms = bucket_taken || at_ms, next_at_ms = at_ms WHERE s.key = buckets[i];
    END IF;
    RETURN NEXT;
  END LOOP;
  UPDATE exchange_slots s SET next_at_ms = egress_next WHERE s.key = egress AND s.next_at_ms <> egress_next;
END
$$;
