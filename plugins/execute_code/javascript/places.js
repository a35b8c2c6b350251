/*
 * Where positions in the script that was evaluated are in the code that was written: behind text
 * that was put into it, and through the source map of a compiler.  Evaluated for an error only.
 *
 * `moves` is a list of [line, column, by]: text of so many characters was put in there, columns
 * counted as they are with it.  `map` is a source map in base64, or "".
 */
(function (moves, map) {
    "use strict";

    const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const decode = (base64) => {
        let bytes = "", bits = 0, held = 0;
        for (let i = 0; i < base64.length; i++) {
            const digit = DIGITS.indexOf(base64[i]);
            if (digit < 0)
                break;
            bits = (bits << 6 | digit) & 0xffff;
            held += 6;
            if (held >= 8) {
                held -= 8;
                bytes += String.fromCharCode(bits >> held & 0xff);
            }
        }
        return bytes;
    };
    /* For each line its segments: [column, line of the source, column of the source], from 0. */
    const read = (mappings) => {
        const lines = [[]];
        let column = 0, sourceLine = 0, sourceColumn = 0, numbers = [], value = 0, shift = 0;
        const end = () => {
            if (numbers.length) {
                column += numbers[0];
                if (numbers.length >= 4) {
                    sourceLine += numbers[2];
                    sourceColumn += numbers[3];
                    lines[lines.length - 1].push([column, sourceLine, sourceColumn]);
                }
            }
            numbers = [];
        };
        for (let i = 0; i < mappings.length; i++) {
            const c = mappings[i], digit = DIGITS.indexOf(c);
            if (c === "," || c === ";") {
                end();
                if (c === ";") {
                    lines.push([]);
                    column = 0;
                }
                continue;
            }
            value |= (digit & 31) << shift;
            shift += 5;
            if (!(digit & 32)) {
                numbers.push(value & 1 ? -(value >> 1) : value >> 1);
                value = shift = 0;
            }
        }
        end();
        return lines;
    };
    const lines = map ? read(JSON.parse(decode(map)).mappings) : null;

    return (line, column) => {
        for (let i = moves.length - 1; i >= 0; i--)
            if (line === moves[i][0] && column >= moves[i][1])
                column = Math.max(column - moves[i][2], moves[i][1]);
        if (!lines)
            return { line, column };
        const segments = lines[line - 1] || [];
        let found = null;
        for (let i = 0; i < segments.length; i++)
            if (!found || segments[i][0] < column)
                found = segments[i];
        return found ? { line: found[1] + 1, column: found[2] + 1 } : null;
    };
})
