import { Button } from '@mantine/core';
import { formatCount } from '../../lib/format.ts';
import classes from './price-logs-screen.module.css';

interface NumberedPagerProps {
  page: number;
  pageSize: number;
  total: number;
  onPage: (page: number) => void;
}

/** Part 2 §2.1: at most five numbered buttons, always pages 1 to 5. A later page is named behind them. */
const NUMBERED_BUTTONS = 5;

export function NumberedPager({ page, pageSize, total, onPage }: NumberedPagerProps) {
  const pageCount = Math.ceil(total / pageSize);
  if (pageCount <= 1 && page <= 1) return null;
  const numbered = Math.min(pageCount, NUMBERED_BUTTONS);
  const first = Math.min((page - 1) * pageSize + 1, total);
  const last = Math.min(page * pageSize, total);
  return (
    <nav className={classes.pager} aria-label="Pagination">
      <span className="numeric">
        Showing {formatCount(first)} to {formatCount(last)} of {formatCount(total)} entries
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
        {page > numbered ? (
          <span className={classes.beyond} aria-current="page">
            … {page}
          </span>
        ) : null}
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
