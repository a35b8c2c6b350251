/*
 * The console that a script has, and what became of the script: its last value or its error.
 *
 * Evaluated behind values.js, under the same rules.  emit(stream, text) and
 * places() are the plugin's; the function that is returned is what the plugin calls, by the name of
 * what it wants.
 */
(function (emit, tools, places) {
    "use strict";

    const { method, text, slice, find, replace, cut, quote, isObject, className, own, tagOf, inspect } = tools;
    const parse = Number, parseFraction = parseFloat, trunc = Math.trunc, now = Date.now;
    const OwnMap = Map, get = method(Map.prototype.get), set = method(Map.prototype.set);
    const forget = method(Map.prototype.delete), sizeOf = method(Object.getOwnPropertyDescriptor(Map.prototype, "size").get);
    const each = method(Map.prototype.forEach), then = method(Promise.prototype.then);
    const split = method(String.prototype.split), lastIndex = method(String.prototype.lastIndexOf);

    const FRAMES = 12, MESSAGE = 4000;

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
            return text(letter === "d" ? parse(value) : letter === "f" ? parseFraction(text(value)) : trunc(parseFraction(text(value))));
        }
        return letter === "c" ? "" : inspect(value);
    };
    const join = (values, from, line) => {
        for (let i = from; i < values.length; i++)
            line += (i ? " " : "") + (typeof values[i] === "string" ? values[i] : inspect(values[i]));
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
    const write = (stream, line) => emit(stream, (indent ? indent + replace(line, "\n", "\n" + indent) : line) + "\n");
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
    Object.defineProperty(globalThis, "console", { value: console, writable: true, configurable: true });

    /* ---- errors ---- */

    /* Where a position is in what was written. */
    let locate;
    const place = (line, column) => {
        try {
            locate = locate || places();
            return locate(line, column);
        } catch { /* the script has changed what that uses */
            return { line, column };
        }
    };
    const read = (object, key) => {
        try {
            return object[key];
        } catch {
            return undefined;
        }
    };
    const isError = (value) => {
        try {
            return isObject(value) && tagOf(value) === "[object Error]";
        } catch {
            return false;
        }
    };
    /* The script's own frames of "name@script:line:column\n…", each as "    at name (line 1, column 2)". */
    const frames = (stack) => {
        const lines = typeof stack === "string" ? split(cut(stack, 100000), "\n") : [];
        let all = "", count = 0;
        for (let i = 0; i < lines.length && count < FRAMES; i++) {
            const at = lastIndex(lines[i], "@script:");
            const where = at < 0 ? [] : split(slice(lines[i], at + 8), ":");
            const found = where.length === 2 ? place(parse(where[0]), parse(where[1])) : null;
            if (!found)
                continue;
            const name = slice(lines[i], 0, at);
            const spot = "line " + text(found.line) + ", column " + text(found.column);
            count++;
            all += (all ? "\n" : "") + "    at " +
                (name && name !== "global code" ? cut(name, 100) + " (" + spot + ")" : spot);
        }
        return all;
    };
    const typeOf = (error) => {
        const name = read(error, "name");
        return typeof name === "string" && name && name !== "Error" ? cut(name, 100) : className(error) || "Error";
    };
    const messageOf = (error) => {
        const message = read(error, "message");
        return typeof message === "string" ? cut(message, MESSAGE) : message === undefined ? "" : inspect(message);
    };
    tools.errorText = (error) => {
        const message = messageOf(error), at = frames(read(error, "stack"));
        return typeOf(error) + (message ? ": " + message : "") + (at ? "\n" + at : "");
    };

    /* What is not there and why, for those who expect it. */
    const absent = " require module exports process fs fetch XMLHttpRequest WebSocket Buffer window document navigator" +
        " localStorage alert prompt Deno Bun __dirname __filename setTimeout setInterval setImmediate ";
    const hint = (type, message) => {
        const start = "Can't find variable: ";
        if (type === "ReferenceError" && find(message, start) === 0) {
            const name = slice(message, start.length);
            if (find(absent, " " + name + " ") < 0)
                return "";
            return find(name, "set") === 0
                ? ": there are no timers here; promises work, but nothing can be waited for"
                : ": '" + name + "' does not exist here. This is the language alone: no modules, files, processes or network";
        }
        if (find(message, "import call expects") >= 0 || find(message, "Cannot use import statement") >= 0 ||
            find(message, "Could not import the module") >= 0 || find(message, "import.meta") >= 0 ||
            find(message, "keyword 'export'") >= 0 || find(message, "keyword 'import'") >= 0)
            return ": there are no modules here, so nothing can be imported or exported";
        return "";
    };
    const failure = (error, prefix) => {
        if (!isError(error))
            return "{\"type\":" + quote(isObject(error) ? tools.kindOf(error) : typeof error) + ",\"message\":" +
                quote(prefix + "thrown: " + (typeof error === "string" ? cut(error, MESSAGE) : inspect(error))) + "}";
        const line = own(error, "line"), column = own(error, "column"), type = typeOf(error);
        const message = messageOf(error), at = frames(read(error, "stack"));
        const found = typeof line === "number" && own(error, "sourceURL") === "script"
            ? place(line, typeof column === "number" ? column : 0) : null;
        return "{\"type\":" + quote(type) + ",\"message\":" + quote(prefix + message + hint(type, message)) +
            (found ? ",\"line\":" + text(found.line) : "") +
            (found && found.column > 0 ? ",\"column\":" + text(found.column) : "") +
            (at ? ",\"stack\":" + quote(at) : "") + "}";
    };

    /* ---- the end ---- */

    let value, error, state = "value"; /* "waiting" for a promise, "error" */
    const rejections = new OwnMap(); /* promises that nobody looks after */
    const wants = {
        __proto__: null,
        /* Of the engine: a promise that was rejected and has no one to tell. */
        rejected: (promise, reason) => { set(rejections, promise, reason); },
        watcher: () => wants.rejected,
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
                return "\"error\":" + failure(error, "");
            if (sizeOf(rejections)) {
                let told = "";
                each(rejections, (reason) => { told = told || failure(reason, "rejected, and nobody waits for that promise: "); });
                return "\"error\":" + told;
            }
            return state === "waiting" ? "\"value\":\"Promise { <pending> }\",\"value_type\":\"Promise\"" : tools.tell(value);
        },
    };
    return (what, one, two) => wants[what](one, two);
})
