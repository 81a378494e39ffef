export * from '#test/world.ts';
export {
  startWorld as startTestApp,
  type World as TestApp,
  type WorldOptions as TestAppOptions,
} from '#test/world.ts';
