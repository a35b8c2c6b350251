/*
 * How values are told: as JSON where they are JSON, else as a console shows them.
 *
 * By the rules of runtime.js.  A value's own code (getters, proxies, Symbol.toStringTag) may run,
 * and throw: that is caught.
 */
(function (base) {
    "use strict";

    const { method, getter, text, slice, find, replace, quote, isObject, cut } = base;
    const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, isArray, stringify, tagOf } = base;
    const { ObjectPrototype, ArrayPrototype, numberText, repeat, codeAt, functionText } = base;
    const { symbolText, dateText, regexpText, OwnSet, has, insert, remove, eachOfSet } = base;
    const { sizeOfSet, sizeOfMap, eachOfMap, typedName, typedLength, bufferLength, unbox } = base;

    const ITEMS = 100, DEPTH = 5, JSON_DEPTH = 100, WIDTH = 76, SHORT = 16, INNER_TEXT = 2000;

    /* A property that is no code; undefined: there is none. */
    const own = (object, key) => {
        const property = getOwnPropertyDescriptor(object, key);
        return property && "value" in property ? property.value : undefined;
    };

    let room = 0; /* characters that may still be told of the value */

    /* ---- JSON, or null when the value is more than that, or too long ---- */

    const take = (piece) => {
        room -= piece.length;
        return room < 0 ? null : piece;
    };
    const jsonNumber = (value) => {
        if (value - value !== 0 || (value === 0 && 1 / value < 0))
            return null;
        const digits = numberText(value);
        const isLong = (value >= 2 ** 63 || value < -(2 ** 63)) && find(digits, "e") < 0;
        return take(isLong ? digits + ".0" : digits); /* whole numbers of 64 bits are read, no others */
    };
    const jsonArray = (value, seen) => {
        const length = value.length;
        let all = "";
        if (length * 2 > room || ownKeys(value).length !== length + 1)
            return null;
        for (let i = 0; i < length; i++) {
            const property = getOwnPropertyDescriptor(value, i);
            const piece = property && "value" in property ? json(property.value, seen) : null;
            if (piece === null || take(",") === null)
                return null;
            all += (i ? "," : "") + piece;
        }
        return "[" + all + "]";
    };
    const jsonObject = (value, seen) => {
        const keys = ownKeys(value);
        let all = "";
        for (let i = 0; i < keys.length; i++) {
            const key = keys[i], property = typeof key === "string" && getOwnPropertyDescriptor(value, key);
            if (!property || !("value" in property) || !property.enumerable || take(key) === null)
                return null;
            const piece = json(property.value, seen);
            if (piece === null || take("\"\":,") === null)
                return null;
            all += (i ? "," : "") + quote(key) + ":" + piece;
        }
        return "{" + all + "}";
    };
    const json = (value, seen) => {
        switch (typeof value) {
        case "boolean": return take(text(value));
        case "string": return take(value) === null ? null : quote(value);
        case "number": return jsonNumber(value);
        case "object": break;
        default: return null;
        }
        if (value === null)
            return take("null");
        if (sizeOfSet(seen) > JSON_DEPTH || has(seen, value))
            return null;
        const proto = getPrototypeOf(value);
        let told = null;
        insert(seen, value);
        if (isArray(value))
            told = proto === ArrayPrototype ? jsonArray(value, seen) : null;
        else if (proto === ObjectPrototype && tagOf(value) === "[object Object]")
            told = jsonObject(value, seen);
        remove(seen, value);
        return told;
    };

    /* ---- as a console shows it ---- */

    const quoted = (value) => {
        const inner = replace(slice(stringify(cut(value, INNER_TEXT)), 1, -1), "\\\"", "\"");
        return find(value, "'") < 0 ? "'" + inner + "'"
            : find(value, "\"") < 0 ? "\"" + inner + "\""
            : "'" + replace(inner, "'", "\\'") + "'";
    };
    const isName = (key) => {
        for (let i = 0; i < key.length; i++) {
            const c = codeAt(key, i);
            const isLetter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
            if (!isLetter && !(i && c >= 48 && c <= 57))
                return false;
        }
        return key.length > 0;
    };
    const keyText = (key) => typeof key === "symbol" ? "[" + symbolText(key) + "]" : isName(key) ? key : quoted(key);
    const className = (value) => {
        for (let proto = value, i = 0; proto && i < 20; proto = getPrototypeOf(proto), i++) {
            const made = own(proto, "constructor"), name = isObject(made) ? own(made, "name") : "";
            if (typeof name === "string" && name)
                return cut(name, 100);
        }
        return "";
    };
    const functionLine = (value) => {
        const name = own(value, "name"), is = slice(functionText(value), 0, 5) === "class" ? "[class " : "[Function: ";
        return is + (typeof name === "string" && name ? cut(name, 100) : "(anonymous)") + "]";
    };

    /* What stands between two brackets: on one line if it fits; short items in rows; else one item a
     * line. */
    const layoutAt = (level) => ({ level, one: "", many: "", rows: "", width: 0, longest: 0, count: 0 });
    const add = (layout, piece) => {
        const length = piece.length, line = (layout.count ? ",\n" : "\n") + repeat("  ", layout.level + 1);
        const isFull = !layout.count || layout.width + length + 2 * layout.level > WIDTH;
        layout.one += (layout.count ? ", " : "") + piece;
        layout.many += line + piece;
        layout.rows += (isFull ? line : ", ") + piece;
        layout.width = isFull ? length : layout.width + length + 2;
        if (length > layout.longest && slice(piece, 0, 1) !== "…")
            layout.longest = length;
        layout.count++;
        room -= piece.length + 2;
    };
    const close = (layout, prefix, left, right) => {
        const head = prefix ? prefix + " " + left : left, pad = 2 * layout.level;
        if (!layout.count)
            return head + right;
        if (head.length + layout.one.length + pad < WIDTH && find(layout.one, "\n") < 0)
            return head + " " + layout.one + " " + right;
        return head + (layout.longest > SHORT ? layout.many : layout.rows) + "\n" + repeat("  ", layout.level) + right;
    };
    const addMore = (layout, count, what) => {
        if (count > 0)
            add(layout, "… " + text(count) + " more " + what + (count > 1 ? "s" : ""));
    };
    const addItems = (layout, value, seen, length) => {
        let holes = 0, i = 0;
        for (; i < length && i < ITEMS && room > 0; i++) {
            const property = getOwnPropertyDescriptor(value, i);
            if (property && holes)
                add(layout, "<" + text(holes) + (holes > 1 ? " empty items>" : " empty item>"));
            holes = property ? 0 : holes + 1;
            if (property)
                add(layout, "value" in property ? show(property.value, seen, layout.level + 1) : "[Getter]");
        }
        if (holes)
            add(layout, "<" + text(holes) + (holes > 1 ? " empty items>" : " empty item>"));
        addMore(layout, length - i, "item");
    };
    const addProperties = (layout, value, seen, hasItems) => {
        const keys = ownKeys(value), length = keys.length;
        let left = 0, shown = 0;
        for (let i = 0; i < length; i++) {
            const key = keys[i];
            if (hasItems && typeof key === "string" && key === text(key >>> 0))
                continue;
            const property = getOwnPropertyDescriptor(value, key);
            if (!property || !property.enumerable)
                continue;
            if (shown++ >= ITEMS || room <= 0) {
                left++;
                continue;
            }
            add(layout, keyText(key) + ": " +
                ("value" in property ? show(property.value, seen, layout.level + 1)
                    : property.get ? (property.set ? "[Getter/Setter]" : "[Getter]") : "[Setter]"));
        }
        addMore(layout, left, hasItems ? "property" : "member");
    };
    const showArray = (value, seen, layout) => {
        const length = own(value, "length") >>> 0, name = className(value);
        addItems(layout, value, seen, length);
        if (length <= ITEMS)
            addProperties(layout, value, seen, true);
        return close(layout, name === "Array" ? "" : (name || "Array") + "(" + text(length) + ")", "[", "]");
    };
    const showCollection = (value, seen, layout, each, size, isMap) => {
        let count = 0;
        each(value, (item, key) => {
            if (count >= ITEMS || room <= 0)
                return;
            count++;
            add(layout, (isMap ? show(key, seen, layout.level + 1) + " => " : "") + show(item, seen, layout.level + 1));
        });
        addMore(layout, size - count, "item");
        addProperties(layout, value, seen, false);
        return close(layout, className(value) + "(" + text(size) + ")", "{", "}");
    };
    /* What the language itself has made, by its kind; null: it only says that it is one. */
    const showKnown = (value, seen, layout, kind) => {
        try {
            switch (kind) {
            case "Map": return showCollection(value, seen, layout, eachOfMap, sizeOfMap(value), true);
            case "Set": return showCollection(value, seen, layout, eachOfSet, sizeOfSet(value), false);
            case "Date": return dateText(value);
            case "RegExp": return regexpText(value);
            case "ArrayBuffer": return "ArrayBuffer { byteLength: " + text(bufferLength(value)) + " }";
            case "Number": case "String": case "Boolean": case "BigInt": case "Symbol":
                return "[" + kind + ": " + show(unbox[kind](value), seen, layout.level + 1) + "]";
            }
            const typed = typedName(value);
            if (typed !== undefined) {
                addItems(layout, value, seen, typedLength(value));
                return close(layout, typed + "(" + text(typedLength(value)) + ")", "[", "]");
            }
        } catch {
            if (kind === "Date")
                return "Invalid Date";
        }
        return null;
    };
    const showError = (value, seen, layout) => {
        const head = base.errors.errorText(value);
        addProperties(layout, value, seen, false);
        return layout.count ? close(layout, head, "{", "}") : head;
    };
    const showObject = (value, seen, level) => {
        const layout = layoutAt(level), proto = getPrototypeOf(value);
        let name = proto === null ? "[Object: null prototype]" : className(value);
        if (level >= DEPTH)
            return "[" + (isArray(value) ? "Array" : name || "Object") + "]";
        if (isArray(value))
            return showArray(value, seen, layout);
        const kind = slice(tagOf(value), 8, -1);
        if (kind === "Error")
            return showError(value, seen, layout);
        const known = showKnown(value, seen, layout, kind);
        if (known !== null)
            return known;
        if (typeof value === "function")
            name = functionLine(value);
        else if (kind !== "Object" && kind !== name)
            name += (name ? " [" : "[") + cut(kind, 100) + "]";
        addProperties(layout, value, seen, false);
        return typeof value === "function" && !layout.count ? name
            : close(layout, name === "Object" ? "" : name, "{", "}");
    };
    const show = (value, seen, level) => {
        switch (typeof value) {
        case "string": return quoted(value);
        case "number": return value === 0 && 1 / value < 0 ? "-0" : text(value);
        case "bigint": return cut(text(value), INNER_TEXT) + "n";
        case "symbol": return symbolText(value);
        case "undefined": case "boolean": return text(value);
        }
        if (value === null)
            return "null";
        if (has(seen, value))
            return "[Circular]";
        let shown = "[an object that cannot be shown]";
        insert(seen, value);
        try {
            shown = showObject(value, seen, level);
        } catch { /* its own code threw, or it is too deep */ }
        remove(seen, value);
        return shown;
    };

    const kindOf = (value) => {
        try {
            return typeof value === "function" ? "function" : isArray(value) ? "Array" : className(value) || "Object";
        } catch {
            return "Object";
        }
    };
    const inspect = (value) => {
        room = all.limit;
        return cut(show(value, new OwnSet(), 0), all.limit);
    };
    /* {"value":…} and, when that is no JSON but a text, its "value_type"; without the braces. */
    const tell = (value) => {
        let told = null;
        room = all.limit;
        try {
            told = json(value, new OwnSet());
        } catch { /* a proxy's traps */ }
        if (told !== null)
            return "\"value\":" + told;
        if (value === undefined)
            return "\"value\":null,\"value_type\":\"undefined\"";
        const shown = typeof value === "string" ? cut(value, all.limit) : inspect(value);
        return "\"value\":" + quote(shown) + ",\"value_type\":" + quote(isObject(value) ? kindOf(value) : typeof value);
    };
    const all = { limit: 0 /* characters that are told of one */, inspect, tell, kindOf, own, className };
    return all;
})
