// @vitest-environment jsdom
/** Every case. */
import './settings-screen.test.tsx';
