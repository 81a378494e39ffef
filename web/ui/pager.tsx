import { Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import classes from './pager.module.css';

interface PagerProps {
  page: number;
  pageCount: number;
  onPage: (page: number) => void;
}

/** Shown only when there is more than one page. */
export function Pager({ page, pageCount, onPage }: PagerProps) {
  if (pageCount <= 1 && page <= 1) return null;
  return (
    <nav className={classes.pager} aria-label="Pagination">
      <Button
        size="xs"
        variant="default"
        leftSection={<IconChevronLeft size={14} aria-hidden />}
        data-page-step="previous"
        disabled={page <= 1}
        onClick={() => onPage(Math.min(page - 1, Math.max(pageCount, 1)))}
      >
        Previous
      </Button>
      <span className="numeric">
        Page {page} of {Math.max(pageCount, 1)}
      </span>
      <Button
        size="xs"
        variant="default"
        rightSection={<IconChevronRight size={14} aria-hidden />}
        data-page-step="next"
        disabled={page >= pageCount}
        onClick={() => onPage(page + 1)}
      >
        Next
      </Button>
    </nav>
  );
}
