// @vitest-environment jsdom
/** Every case. */
import './calculator.test.tsx';
