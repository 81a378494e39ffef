// @vitest-environment jsdom
/** Every case. */
import './shell.test.tsx';
