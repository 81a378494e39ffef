/** Every case. */
import './ingest-limits.test.ts';
