import { Button } from '@mantine/core';
import type { ListPagerProps } from '#web/lists/list-screen.tsx';
import { countPages, formatCount } from '../../lib/format.ts';
import classes from './price-logs-screen.module.css';

/** Numbered buttons cover pages 1 to 5 only. 'Next' reaches later pages, which are named beside the entries. */
const NUMBERED_BUTTONS = 5;

export function NumberedPager({ page, pageSize, onPage, ...list }: ListPagerProps) {
  const total = Number.isNaN(list.total) ? undefined : list.total;
  // When the number of pages is unknown, there is at least this one.
  const pageCount = countPages(total, pageSize) ?? page;
  if (pageCount <= 1 && page <= 1) return null;
  const numbered = Math.min(pageCount, NUMBERED_BUTTONS);
  return (
    <nav className={classes.pager} aria-label="Pagination">
      <span className="numeric">
        {total === undefined ? `Page ${formatCount(page)}` : entriesText({ page, pageSize, total })}
        {total !== undefined && page > numbered ? (
          <span className={classes.beyond} aria-current="page">
            Page {formatCount(page)} of {formatCount(Math.max(pageCount, page))}
          </span>
        ) : null}
      </span>
      <span className={classes.buttons}>
        <Button
          size="xs"
          variant="default"
          data-page-step="previous"
          disabled={page <= 1}
          onClick={() => onPage(Math.min(page - 1, Math.max(pageCount, 1)))}
        >
          Previous
        </Button>
        {Array.from({ length: numbered }, (_, index) => index + 1).map((number) => (
          <Button
            key={number}
            size="xs"
            variant={number === page ? 'filled' : 'default'}
            aria-label={`Page ${number}`}
            {...(number === page ? { 'aria-current': 'page' as const } : {})}
            onClick={() => onPage(number)}
          >
            {number}
          </Button>
        ))}
        <Button
          size="xs"
          variant="default"
          data-page-step="next"
          disabled={page >= pageCount}
          onClick={() => onPage(page + 1)}
        >
          Next
        </Button>
      </span>
    </nav>
  );
}

function entriesText({ page, pageSize, total }: { page: number; pageSize: number; total: number }): string {
  const first = Math.min((page - 1) * pageSize + 1, total);
  const last = Math.min(page * pageSize, total);
  return `Showing ${formatCount(first)} to ${formatCount(last)} of ${formatCount(total)} entries`;
}
