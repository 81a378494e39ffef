/** The rows of a page; null without `page` and `limit`, which asks for all rows. */
export function optionalPage(
  { page, limit }: { page?: number | undefined; limit?: number | undefined },
  defaultLimit: number,
): { limit: number; offset: number } | null {
  if (page === undefined && limit === undefined) return null;
  const size = limit ?? defaultLimit;
  return { limit: size, offset: ((page ?? 1) - 1) * size };
}
