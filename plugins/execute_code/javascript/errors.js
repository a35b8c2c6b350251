/*
 * How errors are told: what went wrong and where in what was written.
 *
 * By the rules of runtime.js.  places() is the plugin's: the function that knows what a compiler,
 * or the plugin itself, has moved.
 */
(function (base, places) {
    "use strict";

    const { text, slice, find, quote, isObject, cut, tagOf, split, lastIndex, toNumber, values } = base;

    const FRAMES = 12, MESSAGE = 4000;

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
    let first; /* the innermost of them */
    /* The script's own frames of "name@script:line:column\n…", each as "    at name (line 1, column 2)". */
    const frames = (stack) => {
        const lines = typeof stack === "string" ? split(cut(stack, 100000), "\n") : [];
        let all = "", count = 0;
        first = null;
        for (let i = 0; i < lines.length && count < FRAMES; i++) {
            const at = lastIndex(lines[i], "@script:");
            const where = at < 0 ? [] : split(slice(lines[i], at + 8), ":");
            const found = where.length === 2 ? place(toNumber(where[0]), toNumber(where[1])) : null;
            if (!found)
                continue;
            const name = slice(lines[i], 0, at);
            const spot = "line " + text(found.line) + ", column " + text(found.column);
            first = first || found;
            count++;
            all += (all ? "\n" : "") + "    at " +
                (name && name !== "global code" ? cut(name, 100) + " (" + spot + ")" : spot);
        }
        return all;
    };
    const typeOf = (error) => {
        const name = read(error, "name");
        return typeof name === "string" && name && name !== "Error" ? cut(name, 100) : values.className(error) || "Error";
    };
    const messageOf = (error) => {
        const message = read(error, "message");
        return typeof message === "string" ? cut(message, MESSAGE) : message === undefined ? "" : values.inspect(message);
    };
    const errorText = (error) => {
        const message = messageOf(error), at = frames(read(error, "stack"));
        return typeOf(error) + (message ? ": " + message : "") + (at ? "\n" + at : "");
    };

    /* What is not there and why, for those who expect it. */
    const absent = " require module exports process fs fetch XMLHttpRequest WebSocket Buffer window document navigator" +
        " localStorage alert prompt Deno Bun __dirname __filename ";
    const timers = " setTimeout setInterval setImmediate requestAnimationFrame ";
    const importing = ["import call expects", "Cannot use import", "Could not import the module", "import.meta",
        "Unexpected keyword 'export'", "Unexpected keyword 'import'"];
    const hint = (type, message) => {
        const start = "Can't find variable: ";
        if (type === "ReferenceError" && find(message, start) === 0) {
            const name = slice(message, start.length), word = " " + name + " ";
            return find(timers, word) >= 0
                ? ". There are no timers here: promises work, but nothing can be waited for"
                : find(absent, word) >= 0
                ? ". '" + name + "' does not exist here: this is the language alone, without modules, files, processes or network"
                : "";
        }
        for (let i = 0; i < importing.length; i++)
            if (find(message, importing[i]) >= 0)
                return ". There are no modules here: nothing can be imported or exported";
        return "";
    };
    const explain = (type, message) => {
        const more = hint(type, message);
        return (more && slice(message, -1) === "." ? slice(message, 0, -1) : message) + more;
    };
    const kindOf = (value) => value === null ? "null" : isObject(value) ? values.kindOf(value) : typeof value;
    /* {"type", "message", "line", "column", "stack"}; `prefix` goes before the message. */
    const failure = (error, prefix) => {
        if (!isError(error))
            return "{\"type\":" + quote(kindOf(error)) + ",\"message\":" +
                quote(prefix + "thrown: " + (typeof error === "string" ? cut(error, MESSAGE) : values.inspect(error))) + "}";
        const type = typeOf(error), at = frames(read(error, "stack"));
        const line = values.own(error, "line"); /* of a script that cannot be read, which has no frame */
        const found = first || (typeof line === "number" && values.own(error, "sourceURL") === "script" && place(line, 0));
        return "{\"type\":" + quote(type) + ",\"message\":" + quote(prefix + explain(type, messageOf(error))) +
            (found ? ",\"line\":" + text(found.line) : "") +
            (found && found.column > 0 ? ",\"column\":" + text(found.column) : "") +
            (at ? ",\"stack\":" + quote(at) : "") + "}";
    };

    return { errorText, failure };
})
