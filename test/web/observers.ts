/** Stands for event sources and observers of a browser; reports nothing. */
export class Silent {
  addEventListener() {}
  removeEventListener() {}
  addListener() {}
  removeListener() {}
  close() {}
  observe(_target?: Element) {}
  unobserve() {}
  disconnect() {}
}

/** An observer of intersections for which everything is visible. */
export class AllInView extends Silent {
  readonly #report: IntersectionObserverCallback;
  constructor(report: IntersectionObserverCallback) {
    super();
    this.#report = report;
  }
  override observe(target?: Element) {
    this.#report([{ isIntersecting: true, target } as IntersectionObserverEntry], this as never);
  }
}
