/// <reference lib="esnext.disposable" />

export interface StartOptions {
    /**
     * Flags of the node, such as `["--accounts", "3", "--scenario", "price-crash"]`. By default the node listens on free
     * ports of 127.0.0.1, and prices do not move.
     */
    args?: readonly string[];
    /** Path of the binary. By default the one that `binary()` returns. */
    binary?: string;
    /** Time in milliseconds after which a node that is not ready fails to start. By default 30,000. */
    timeout?: number;
    /** Prints transactions, `console.log` and warnings on the test's own standard output. By default nothing is printed. */
    verbose?: boolean;
}

export interface Node {
    /** URL of JSON-RPC over HTTP. */
    readonly rpc: string;
    /** URL of JSON-RPC over WebSocket. */
    readonly ws: string;
    /** Base URL of the REST interfaces. */
    readonly rest: string;
    /** URL of the price WebSocket. */
    readonly exchangeWs: string;
    /** Process id of the node. */
    readonly pid: number;
    /** Sends a JSON-RPC request and returns its result. Rejects with an error that has the `code` and `data` of the response. */
    request<Result = unknown>(method: string, params?: readonly unknown[]): Promise<Result>;
    /** Stops the node and waits until its process has ended. Rejects with its last output if it did not end with code 0. */
    stop(): Promise<void>;
    /** Same as `stop`, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a node and waits until it is ready. The node is stopped when the process that started it ends, in whatever way.
 * Rejects with the node's output if it does not start.
 */
export function start(options?: StartOptions): Promise<Node>;

/** Returns the path of the binary for this platform. Throws if there is none. */
export function binary(): string;
