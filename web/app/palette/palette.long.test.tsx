// @vitest-environment jsdom
/** Every case. */
import './palette.test.tsx';
