// @vitest-environment jsdom
/** Every case. */
import './keyboard.test.tsx';
