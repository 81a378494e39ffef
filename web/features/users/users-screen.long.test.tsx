// @vitest-environment jsdom
/** Every case. */
import './users-screen.test.tsx';
