// @vitest-environment jsdom
/** Every case. */
import './failures.test.tsx';
