-- The database's time, which judges leases, heartbeats and what else several instances must agree on. One place, so
-- that tests can move it: they replace this function. PostgreSQL puts its body in the place of each call.
CREATE FUNCTION database_time() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE RETURN now();
