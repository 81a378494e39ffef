// @vitest-environment jsdom
/** Every case. */
import './positions-screen.test.tsx';
