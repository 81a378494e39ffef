// @vitest-environment jsdom
/** Every case. */
import './second-factor.test.tsx';
