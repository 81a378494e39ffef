import { Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import classes from './pager.module.css';

export interface PagerProps {
  page: number;
  /** Undefined while unknown, such as after a failed fetch. */
  pageCount: number | undefined;
  onPage: (page: number) => void;
}

/** Shown only for more than one page. */
export function Pager({ page, pageCount, onPage }: PagerProps) {
  if ((pageCount ?? 1) <= 1 && page <= 1) return null;
  const last = pageCount === undefined ? undefined : Math.max(pageCount, 1);
  return (
    <nav className={classes.pager} aria-label="Pagination">
      <Button
        size="xs"
        variant="default"
        leftSection={<IconChevronLeft size={14} aria-hidden />}
        data-page-step="previous"
        disabled={page <= 1}
        onClick={() => onPage(Math.min(page - 1, last ?? page - 1))}
      >
        Previous
      </Button>
      <span className="numeric">{last === undefined ? `Page ${page}` : `Page ${page} of ${last}`}</span>
      <Button
        size="xs"
        variant="default"
        rightSection={<IconChevronRight size={14} aria-hidden />}
        data-page-step="next"
        disabled={page >= (last ?? page)}
        onClick={() => onPage(page + 1)}
      >
        Next
      </Button>
    </nav>
  );
}
