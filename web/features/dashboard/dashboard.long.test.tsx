// @vitest-environment jsdom
/** Every case. */
import './dashboard.test.tsx';
