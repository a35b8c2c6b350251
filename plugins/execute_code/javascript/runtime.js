/*
 * What a script finds beside the language itself: a console; and what became of the script.
 *
 * Evaluated in each new context before the script, and out of its reach.  What is used of the
 * language is taken here, once: a script may replace what it likes of Array.prototype and the
 * rest.  So nothing here, in values.js or in errors.js iterates, calls a method by its name or trusts
 * an array.
 *
 * emit(stream, text), places() and random() are the plugin's; makeValues() and makeErrors() are what
 * the files of these names are.  The function that is returned is what the plugin calls, by the name
 * of what it wants.
 */
(function (emit, places, random, makeValues, makeErrors) {
    "use strict";

    const { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
    const bind = Function.prototype.bind, call = Function.prototype.call;
    const method = (f) => apply(bind, call, [f]);
    const getter = (proto, name) => method(getOwnPropertyDescriptor(proto, name).get);

    const StringPrototype = String.prototype, SetPrototype = Set.prototype, MapPrototype = Map.prototype;
    const TypedPrototype = getPrototypeOf(Uint8Array.prototype);
    const text = String, toNumber = Number, toFraction = parseFloat, trunc = Math.trunc, now = Date.now;
    const stringify = JSON.stringify, OwnMap = Map;
    const slice = method(StringPrototype.slice), find = method(StringPrototype.indexOf);
    const replace = method(StringPrototype.replaceAll), repair = method(StringPrototype.toWellFormed);
    const get = method(MapPrototype.get), set = method(MapPrototype.set), forget = method(MapPrototype.delete);
    const sizeOfMap = getter(MapPrototype, "size"), eachOfMap = method(MapPrototype.forEach);
    const then = method(Promise.prototype.then), define = Object.defineProperty;

    const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
    const cut = (value, most) => {
        const length = value.length, half = trunc(most / 2);
        return length <= most ? value
            : slice(value, 0, half) + " … " + text(length - 2 * half) + " characters left out … " +
              slice(value, length - half);
    };
    /* A JSON string that any reader takes. */
    const quote = (value) => {
        const good = repair(value);
        return stringify(find(good, "\0") < 0 ? good : replace(good, "\0", "\ufffd"));
    };

    /* What the others use. */
    const base = {
        __proto__: null, method, getter, text, toNumber, slice, find, replace, quote, isObject, cut, stringify,
        ownKeys, getPrototypeOf, getOwnPropertyDescriptor, isArray: Array.isArray,
        ObjectPrototype: Object.prototype, ArrayPrototype: Array.prototype, tagOf: method(Object.prototype.toString),
        numberText: method(Number.prototype.toString), functionText: method(Function.prototype.toString),
        symbolText: method(Symbol.prototype.toString), dateText: method(Date.prototype.toISOString),
        regexpText: method(RegExp.prototype.toString), repeat: method(StringPrototype.repeat),
        codeAt: method(StringPrototype.charCodeAt), split: method(StringPrototype.split),
        lastIndex: method(StringPrototype.lastIndexOf),
        OwnSet: Set, has: method(SetPrototype.has), insert: method(SetPrototype.add),
        remove: method(SetPrototype.delete), eachOfSet: method(SetPrototype.forEach),
        sizeOfSet: getter(SetPrototype, "size"), sizeOfMap, eachOfMap,
        typedName: getter(TypedPrototype, Symbol.toStringTag), typedLength: getter(TypedPrototype, "length"),
        bufferLength: getter(ArrayBuffer.prototype, "byteLength"),
        unbox: {
            __proto__: null, Number: method(Number.prototype.valueOf), String: method(StringPrototype.valueOf),
            Boolean: method(Boolean.prototype.valueOf), BigInt: method(BigInt.prototype.valueOf),
            Symbol: method(Symbol.prototype.valueOf),
        },
    };
    const values = base.values = makeValues(base);
    const errors = base.errors = makeErrors(base, places);
    const inspect = values.inspect;

    /* ---- console ---- */

    let indent = "";
    const counts = new OwnMap(), timers = new OwnMap();
    const formatted = (letter, value) => {
        if (letter === "s")
            return typeof value === "string" ? value : inspect(value);
        if (letter === "d" || letter === "i" || letter === "f") {
            if (typeof value === "bigint")
                return text(value) + "n";
            if (isObject(value) || typeof value === "symbol")
                return "NaN";
            return text(letter === "d" ? toNumber(value) : letter === "f" ? toFraction(text(value)) : trunc(toFraction(text(value))));
        }
        return letter === "c" ? "" : inspect(value);
    };
    const one = (value) => typeof value === "string" ? value
        : typeof value === "number" && value !== 0 ? text(value)
        : inspect(value);
    const join = (values, from, line) => {
        for (let i = from; i < values.length; i++)
            line += i ? " " + one(values[i]) : one(values[i]);
        return line;
    };
    const format = (values) => {
        const first = values[0];
        if (values.length < 2 || typeof first !== "string" || find(first, "%") < 0)
            return join(values, 0, "");
        let line = "", next = 1, from = 0;
        for (let at = find(first, "%"); at >= 0; at = find(first, "%", from)) {
            const letter = slice(first, at + 1, at + 2);
            line += slice(first, from, at);
            if (letter === "%")
                line += "%";
            else if (letter && find("sdifjoOc", letter) >= 0 && next < values.length)
                line += formatted(letter, values[next++]);
            else
                line += "%" + letter;
            from = at + 2;
        }
        return join(values, next, line + slice(first, from));
    };
    const write = (stream, line) => emit(stream,
        repair(indent ? indent + replace(line, "\n", "\n" + indent) : line) + "\n"); /* of a half pair emit() gets no end */
    const out = (...values) => write(1, format(values));
    const err = (...values) => write(2, format(values));
    const label = (value) => value === undefined ? "default" : format([value]);
    const elapsed = (value) => {
        const begin = get(timers, label(value));
        if (begin !== undefined)
            write(1, label(value) + ": " + text(now() - begin) + " ms");
    };
    const group = (...values) => {
        if (values.length)
            write(1, format(values));
        indent += "  ";
    };
    const console = {
        log: out, info: out, debug: out, warn: err, error: err, group, groupCollapsed: group,
        groupEnd: () => { indent = slice(indent, 2); },
        dir: (value) => write(1, inspect(value)),
        table: (value) => write(1, inspect(value)),
        trace: (...values) => write(2, "Trace: " + format(values)),
        assert: (holds, ...values) => {
            if (!holds)
                write(2, "Assertion failed" + (values.length ? ": " + format(values) : ""));
        },
        count: (value) => {
            const name = label(value), count = (get(counts, name) || 0) + 1;
            set(counts, name, count);
            write(1, name + ": " + text(count));
        },
        countReset: (value) => { forget(counts, label(value)); },
        time: (value) => { set(timers, label(value), now()); },
        timeLog: elapsed,
        timeEnd: (value) => { elapsed(value); forget(timers, label(value)); },
    };
    define(Math, "random", { value: random, writable: true, configurable: true });
    define(globalThis, "console", { value: console, writable: true, configurable: true });

    /* ---- the end ---- */

    let value, error, state = "value"; /* "waiting" for a promise, "error" */
    const rejections = new OwnMap(); /* promises that nobody looks after */
    const wants = {
        __proto__: null,
        /* Of the engine: a promise that was rejected and has no one to tell. */
        rejected: (promise, reason) => { set(rejections, promise, reason); },
        watcher: () => wants.rejected,
        limit: (most) => { values.limit = most; },
        value: (last) => {
            value = last;
            forget(rejections, last);
            if (!isObject(last))
                return;
            state = "waiting";
            try {
                then(last, (came) => { state = "value"; value = came; }, (reason) => { state = "error"; error = reason; });
            } catch {
                state = "value"; /* it is no promise */
            }
        },
        error: (thrown) => { state = "error"; error = thrown; },
        end: () => {
            if (state === "error")
                return "\"error\":" + errors.failure(error, "");
            if (sizeOfMap(rejections)) {
                let told = "";
                eachOfMap(rejections, (reason) => { told = told || errors.failure(reason, "rejected, and nobody waits for that promise: "); });
                return "\"error\":" + told;
            }
            return state === "waiting" ? "\"value\":\"Promise { <pending> }\",\"value_type\":\"Promise\"" : values.tell(value);
        },
    };
    return (what, one, two) => wants[what](one, two);
})
