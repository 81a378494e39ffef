interface Queryable {
  query(text: string): Promise<unknown>;
}

/** Takes back what was counted of entering and testing keys, for tests that do so more often than users may. */
export async function forgetCredentialCalls(database: Queryable): Promise<void> {
  await database.query(
    "delete from rate_limits where key like 'credentials-entry:%' or key like 'exchange-call:%'",
  );
}
