/** The program that users run. */
export declare const program: string;
/** Node's arguments for it. */
export declare const programArguments: string[];
export declare function ensureBuilt(node: string): Promise<void>;
export declare function ensureServerBuilt(node: string): Promise<void>;
