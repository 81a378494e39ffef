/** Interrupted at every point and by every fault. */
import './held-position.test.ts';
