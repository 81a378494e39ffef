// @vitest-environment jsdom
/** Every case. */
import './webhook-screen.test.tsx';
