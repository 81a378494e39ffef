// @vitest-environment jsdom
/** Every case. */
import './access-cards.test.tsx';
