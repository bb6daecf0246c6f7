(() => {
  const { stringify } = JSON;
  const { apply } = Reflect;
  const text = String;
  // The most bytes after the end of the memory.
  const PADDING = 1 << 20;

  return (tracer) => {
    if (Object(tracer) !== tracer) return tracer;
    const { setup, step, fault, enter, exit, result } = tracer;
    if ((typeof enter === 'function') !== (typeof exit === 'function')) {
      throw new TypeError('trace object must expose either both or none of enter() and exit()');
    }

    let running;
    let failure;
    const describe = (error, name) => {
      let what = 'an error without text';
      try {
        what = text(error);
      } catch {}
      return `${what} in server-side tracer function '${name}'`;
    };
    // Errors that cannot be caught, such as that of the recursion limit, leave `running` behind.
    const failed = () => {
      if (running !== undefined)
        failure ??= `a limit of the interpreter was exceeded in server-side tracer function '${running}'`;
      return failure !== undefined;
    };
    // Memory that an instruction is about to use reads as zeros, as in geth.
    let padded;
    const pad = (log) => {
      padded = log;
      const { slice, length } = log.memory;
      log.memory.slice = (begin, end) => {
        const from = Number(begin);
        const to = Number(end);
        const size = length();
        if (!(from >= 0 && from <= to && to > size && to - size <= PADDING))
          return slice(begin, end);
        const bytes = new Uint8Array(to - from);
        if (from < size) bytes.set(slice(from, size));
        return bytes;
      };
    };
    const guarded = (name, callback) => (first, second) => {
      if (failed()) return;
      running = name;
      try {
        if (first.memory !== undefined && padded !== first) pad(first);
        apply(callback, tracer, [first, second]);
      } catch (error) {
        failure = describe(error, name);
      }
      running = undefined;
    };

    const wrapped = {};
    for (const [name, callback] of [
      ['step', step],
      ['fault', fault],
      ['enter', enter],
      ['exit', exit],
    ]) {
      if (typeof callback === 'function') wrapped[name] = guarded(name, callback);
    }
    if (typeof setup === 'function') wrapped.setup = (config) => apply(setup, tracer, [config]);
    if (typeof result === 'function') {
      wrapped.result = (context, db) => {
        if (failed()) return `!${failure}`;
        try {
          return `=${stringify(apply(result, tracer, [context, db])) ?? 'null'}`;
        } catch (error) {
          return `!${describe(error, 'result')}`;
        }
      };
    }
    return wrapped;
  };
})();
