// @vitest-environment jsdom
/** Every case. */
import './price-logs-screen.test.tsx';
