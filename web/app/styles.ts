// Order matters: Mantine's rules are in a cascade layer, so ours win without !important.
import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.layer.css';
import './theme-variables.css';
import './global.css';
