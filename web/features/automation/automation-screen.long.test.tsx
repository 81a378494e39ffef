// @vitest-environment jsdom
/** Every case. */
import './automation-screen.test.tsx';
