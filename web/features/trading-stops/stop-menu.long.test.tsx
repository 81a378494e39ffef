// @vitest-environment jsdom
/** Every case. */
import './stop-menu.test.tsx';
