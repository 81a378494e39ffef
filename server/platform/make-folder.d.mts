/** Creates a folder and those above it, private to their owner. */
export declare function makeFolder(path: string): Promise<void>;
