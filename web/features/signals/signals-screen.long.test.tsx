// @vitest-environment jsdom
/** Every case. */
import './signals-screen.test.tsx';
