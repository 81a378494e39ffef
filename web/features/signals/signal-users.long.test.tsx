// @vitest-environment jsdom
/** Every case. */
import './signal-users.test.tsx';
