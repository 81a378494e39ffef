interface Queryable {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * Lets a test make the database refuse every write of a table, and end that. Create it before anything writes the
 * table: from then on only a row changes, and no statement waits for a lock on a table that the program writes.
 */
export async function createRefusals(client: Queryable, table: string) {
  await client.query('create table refused_writes (table_name text primary key)');
  // With the row in its detail, as a violated constraint has it.
  await client.query(`
    create function refuse_write() returns trigger language plpgsql as $$
    begin
      if exists (select from public.refused_writes where table_name = tg_table_name) then
        raise exception 'a write of % is refused', tg_table_name
          using errcode = 'check_violation', detail = 'Failing row contains ' || new::text;
      end if;
      return new;
    end $$`);
  await client.query(
    `create trigger refuse_write before insert or update on ${table} for each row execute function refuse_write()`,
  );
  return {
    refuse: () => client.query('insert into refused_writes values ($1)', [table]),
    allow: () => client.query('delete from refused_writes'),
  };
}
