// @vitest-environment jsdom
/** Every case. */
import './performance-screen.test.tsx';
