// @vitest-environment jsdom
/** Every case. */
import './strategies-screen.test.tsx';
