// @vitest-environment jsdom
/** Every case. */
import './alerts.test.tsx';
