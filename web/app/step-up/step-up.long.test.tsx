// @vitest-environment jsdom
/** Every case. */
import './step-up.test.tsx';
