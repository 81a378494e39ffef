import type { MantineThemeOverride } from '@mantine/core';

/**
 * Component defaults are plain objects: `Component.extend()` would pull every component named here into the
 * sign-in bundle. theme-variables.css holds the CSS variables of this theme (see theme.test.ts).
 */
export const theme: MantineThemeOverride = {
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace",
  primaryColor: 'indigo',
  primaryShade: 8,
  defaultRadius: 'md',
  black: '#111827',
  cursorType: 'pointer',
  respectReducedMotion: true,
  colors: {
    dark: [
      '#dfe4ee',
      '#b9c1d0',
      '#9ba5b9',
      '#7d879b',
      '#3a4252',
      '#2a313f',
      '#1d2330',
      '#151a25',
      '#0b0e15',
      '#07090e',
    ],
  },
  headings: { fontWeight: '600' },
  components: {
    // Mantine's scroll lock injects a <style> element, which the content security policy blocks; global.css locks.
    Modal: { defaultProps: { lockScroll: false } },
    ModalRoot: { defaultProps: { lockScroll: false } },
    Drawer: { defaultProps: { lockScroll: false } },
    DrawerRoot: { defaultProps: { lockScroll: false } },
    Paper: { defaultProps: { withBorder: true } },
  },
};
