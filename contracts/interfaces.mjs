// The interfaces of the contracts as Solidity, made from their ABIs.

/** The interface of one contract, and the types that it defines. */
class InterfaceWriter {
  /** The contract's own structs and enumerations by their names. */
  own = new Map();

  /** `shared` takes the types that belong to no contract, `enums` has the enumerations' variants. */
  constructor(contractName, abi, shared, enums) {
    Object.assign(this, { contractName, abi, shared, enums });
  }

  /** The contract's errors, and the rest of it. */
  write() {
    const errors = this.#lines('error');
    const body = this.#lines('constructor', 'event', 'function');
    return [
      block(`interface ${this.contractName}Errors`, errors),
      block(`interface ${this.contractName}`, [...sorted(this.own), ...body]),
    ];
  }

  #lines(...types) {
    return this.abi.filter((entry) => types.includes(entry.type)).map((entry) => this.#line(entry));
  }

  #line(entry) {
    const inputs = this.#list(entry.inputs);
    if (entry.type === 'constructor') return `constructor${inputs};`;
    if (entry.type !== 'function') return `${entry.type} ${entry.name}${inputs};`;
    const mutability = entry.stateMutability === 'nonpayable' ? '' : ` ${entry.stateMutability}`;
    const returns = entry.outputs.length > 0 ? ` returns ${this.#list(entry.outputs)}` : '';
    return `function ${entry.name}${inputs} external${mutability}${returns};`;
  }

  #list(parameters) {
    return `(${parameters.map((one) => this.#parameter(one)).join(', ')})`;
  }

  #parameter(one) {
    const words = [this.#type(one), ...(one.indexed ? ['indexed'] : []), one.name];
    return words.join(' ').trimEnd();
  }

  /** A type as Solidity spells it. Takes down the definition of a struct or enumeration. */
  #type({ internalType, type: plain, components }) {
    const [, kind, scope, name, array] =
      /^(struct|enum) (?:(\w+)\.)?(\w+)((?:\[\d*\])*)$/.exec(internalType) ?? [];
    if (kind === undefined) return plain;

    const definitions = scope === undefined ? this.shared : this.own;
    if (kind === 'enum') {
      const variants = this.enums[scope === undefined ? name : `${scope}.${name}`];
      definitions.set(name, `enum ${name} { ${variants.join(', ')} }`);
    } else {
      const fields = components.map((field) => `${this.#type(field)} ${field.name};`);
      definitions.set(name, block(`struct ${name}`, fields));
    }
    return `${name}${array}`;
  }
}

/**
 * One Solidity file with the interfaces of these contracts (`[name, abi]`). It is made from the
 * ABIs, and has two things that they lack: a struct that several contracts use is one type, and
 * enumerations have their variants. A contract's errors are in an interface of their own, since one
 * of them may have the name of an event.
 */
function interfaces(contracts, enums) {
  const shared = new Map();
  const blocks = contracts.flatMap(([contractName, abi]) =>
    new InterfaceWriter(contractName, abi, shared, enums).write(),
  );
  const parts = [...sorted(shared), ...blocks.filter((text) => text !== '')];
  return `// The contracts' interfaces, written by build.mjs.\n\n${parts.join('\n\n')}\n`;
}

/** An ABI leaves out the constructor that every contract has that declares none. */
function withConstructor(abi) {
  const declared = abi.some((entry) => entry.type === 'constructor');
  return declared ? abi : [{ type: 'constructor', inputs: [] }, ...abi];
}

function sorted(definitions) {
  return [...definitions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
}

function block(head, lines) {
  const indented = lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}\n`);
  return lines.length === 0 ? '' : `${head} {\n${indented.join('')}}`;
}

/**
 * The two files of interfaces: of the contracts that are deployed, and of what those of the tests
 * have in addition.
 */
export function allInterfaces(artifacts, enums) {
  const all = Object.entries(artifacts).map(([path, text]) => [path, JSON.parse(text)]);
  const contracts = (inTests) =>
    all
      .filter(([path]) => path.startsWith('test/') === inTests)
      .map(([, { contractName, abi }]) => [contractName, withConstructor(abi)])
      .sort(([a], [b]) => (a < b ? -1 : 1));

  const deployed = contracts(false);
  const known = new Set(deployed.flatMap(([, abi]) => abi.map((entry) => JSON.stringify(entry))));
  const added = contracts(true).map(([name, abi]) => [
    name,
    abi.filter((entry) => !known.has(JSON.stringify(entry))),
  ]);
  return {
    'interfaces.sol': interfaces(deployed, enums),
    'test/interfaces.sol': interfaces(added, enums),
  };
}
