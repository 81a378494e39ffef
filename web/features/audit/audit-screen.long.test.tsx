// @vitest-environment jsdom
/** Every case. */
import './audit-screen.test.tsx';
