interface Queryable {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * Lets a test make the database refuse writes of single rows of a table: those whose text contains one of the words that
 * were refused. Create it before anything writes the table.
 */
export async function createRowRefusals(client: Queryable, table: string, { on = 'insert or update' } = {}) {
  await client.query('create table if not exists refused_words (word text primary key)');
  await client.query(`
    create or replace function refuse_row() returns trigger language plpgsql as $$
    declare written record := coalesce(new, old);
    begin
      if exists (select from public.refused_words where strpos(written::text, word) > 0) then
        raise exception 'a row of % is refused', tg_table_name;
      end if;
      return written;
    end $$`);
  await client.query(
    `create trigger refuse_row before ${on} on ${table} for each row execute function refuse_row()`,
  );
  return {
    refuse: (word: string) => client.query('insert into refused_words values ($1)', [word]),
    allow: () => client.query('delete from refused_words'),
  };
}
