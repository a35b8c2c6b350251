/*
 * mortise/declare.h - how the declarations of mortise/tool.h work.  Nothing here is for plugins.
 *
 * WORDS.  Kinds, options and the words of MORTISE_TOOL_WITH are never macros themselves.  They are
 * pasted to a prefix, and what is known by that name is a macro with a comma in it:
 * MORTISE__OPTION_range(1, 2) is `~, range, (1, 2), `.  MORTISE__SECOND(word, other) is then what
 * stands behind the first comma, or `other` for a word that is not known.
 *
 * CHECKS.  What is wrong is told by a static assertion in words of its own, before the compiler
 * stumbles over it, and where that can be, what it would stumble over is left out.  The checks look
 * at how things are spelled (#text), since a name that is not declared has no type to be asked for.
 *
 * PASSES.  The fields are gone through for their number, for the checks, for the members of the
 * struct, for those of `seen` and for the table; the options of a field for the checks, for what
 * they count and for the table.
 */
#ifndef MORTISE_DECLARE_H
#define MORTISE_DECLARE_H

#include <mortise/plugin.h>

/* ---- small macros -------------------------------------------------------------------- */

#define MORTISE__BARE(...)           __VA_ARGS__
#define MORTISE__SECOND(...)         MORTISE__SECOND_1(__VA_ARGS__, ~)
#define MORTISE__SECOND_1(a, b, ...) b
#define MORTISE__STRING(...)         MORTISE__STRING_1(__VA_ARGS__)
#define MORTISE__STRING_1(...)       #__VA_ARGS__

/* Before (…): that and what is behind it.  The list gets four empty texts at its end, so that no
 * variadic part is ever empty and a description that was forgotten is an empty text. */
#define MORTISE__PAREN(...) ~, (__VA_ARGS__, "", "", "", ""),
#define MORTISE__EAT(...)

/* popcount() and strcmp() are here because compilers work them out wherever C wants a constant;
 * they do not do so for every comparison of fractions and of the characters of a literal. */
#define MORTISE__MUST(condition, message)                                                          \
    __extension__ _Static_assert(__builtin_popcount(condition), "mortise: " message);

/* What is known of a spelling, a literal. */
#define MORTISE__BEGINS(text, with) (__builtin_strncmp(text, with, sizeof(with) - 1) == 0)
#define MORTISE__LAST(text)         (&("#" text)[sizeof(text) - 1])
#define MORTISE__DIGIT(text)                                                                       \
    (__builtin_strcmp(text, "0") >= 0 && __builtin_strcmp(text, ":") < 0)
#define MORTISE__QUOTED(text)                                                                      \
    (MORTISE__BEGINS(text, "\"") && __builtin_strcmp(MORTISE__LAST(text), "\"") == 0)
#define MORTISE__DECIMAL(text)                                                                     \
    ((MORTISE__DIGIT(text) || MORTISE__BEGINS(text, "-")) && MORTISE__DIGIT(MORTISE__LAST(text))   \
     && (!MORTISE__BEGINS(text, "0") || sizeof(text) == sizeof("0") || MORTISE__BEGINS(text, "0.")))

/* What is known of a value.  A text in the place of a number is told of once, and is 0 then. */
#define MORTISE__IS_NUMBER(value) _Generic((value), char *: 0, const char *: 0, default: 1)
#define MORTISE__NUMBER(value)    _Generic((value), char *: 0, const char *: 0, default: (value))
#define MORTISE__WHOLE(value)                                                                      \
    ((double)(int64_t)MORTISE__NUMBER(value) == (double)MORTISE__NUMBER(value))

/* ---- kinds --------------------------------------------------------------------------------- */

/*
 * (KEEP, KNOWN, CODE, TAKES, WAY, MEMBER, INNER, DESCRIPTION, OPTION…)
 *
 * TAKES is what its limits and words are about: 1 a value, 2 a text, 4 the items of a list, and 8
 * whole numbers only.  WAY is how its fallback is written, INNER the shape of a record.
 */
#define MORTISE__KIND_string(id, ...)                                                              \
    ~, (MORTISE__KEEP, 1, MORTISE_STRING, 2, string, const char *id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_integer(id, ...)                                                             \
    ~, (MORTISE__KEEP, 1, MORTISE_INTEGER, 9, integer, int64_t id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_number(id, ...)                                                              \
    ~, (MORTISE__KEEP, 1, MORTISE_NUMBER, 1, number, double id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_boolean(id, ...)                                                             \
    ~, (MORTISE__KEEP, 1, MORTISE_BOOLEAN, 0, boolean, bool id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_json(id, ...)                                                                \
    ~, (MORTISE__KEEP, 1, MORTISE_JSON, 0, json, const char *id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_strings(id, ...)                                                             \
    ~, (MORTISE__KEEP, 1, MORTISE_STRINGS, 6, json, mortise_strings id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_integers(id, ...)                                                            \
    ~, (MORTISE__KEEP, 1, MORTISE_INTEGERS, 4, json, mortise_integers id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_numbers(id, ...)                                                             \
    ~, (MORTISE__KEEP, 1, MORTISE_NUMBERS, 4, json, mortise_numbers id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_booleans(id, ...)                                                            \
    ~, (MORTISE__KEEP, 1, MORTISE_BOOLEANS, 4, json, mortise_booleans id;, NULL, __VA_ARGS__)
#define MORTISE__KIND_record(id, record, ...)                                                      \
    ~, (MORTISE__KEEP, 1, MORTISE_OBJECT, 0, json, record##_args id;, &record##_shape, __VA_ARGS__)
#define MORTISE__KIND_records(id, record, ...)                                                     \
    ~, (MORTISE__KEEP, 1, MORTISE_RECORDS, 4, json, MORTISE__RECORDS(record) id;,                  \
        &record##_shape, __VA_ARGS__)
#define MORTISE__RECORDS(record)                                                                   \
    struct {                                                                                       \
        const record##_args *items;                                                                \
        size_t count;                                                                              \
    }
#define MORTISE__KIND_nothing(...) ~, (MORTISE__DROP, )

/* pass(shape, kind, id, KNOWN, CODE, …) for a field.  An unknown kind is an integer with nothing
 * else to complain of; what is no field at all is left out. */
#define MORTISE__FIELD(pass, shape, field)                                                         \
    MORTISE__FIELD_1(pass, shape, MORTISE__SECOND(MORTISE__PAREN field, (nothing, ~, ~)))
#define MORTISE__FIELD_1(pass, shape, tuple) MORTISE__FIELD_2(pass, shape, MORTISE__BARE tuple)
#define MORTISE__FIELD_2(...)                MORTISE__FIELD_3(__VA_ARGS__)
#define MORTISE__FIELD_3(pass, shape, kind, id, ...)                                               \
    MORTISE__FIELD_4(pass, shape, kind, id,                                                        \
        MORTISE__SECOND(MORTISE__KIND_##kind(id, __VA_ARGS__),                                     \
            (MORTISE__KEEP, 0, MORTISE_INTEGER, 0, integer, int64_t id;, NULL, "?",                \
             "", "", "", "")))
#define MORTISE__FIELD_4(pass, shape, kind, id, tuple)                                             \
    MORTISE__FIELD_5(pass, shape, kind, id, MORTISE__BARE tuple)
#define MORTISE__FIELD_5(...) MORTISE__FIELD_6(__VA_ARGS__)
#define MORTISE__FIELD_6(pass, shape, kind, id, keep, ...)                                         \
    keep(pass, shape, kind, id, __VA_ARGS__)
#define MORTISE__KEEP(pass, ...) pass(__VA_ARGS__)
#define MORTISE__DROP(...)

/* ---- the passes of the fields -------------------------------------------------------------- */

/* Their number; 0x100 is MORTISE_NO_ARGS, 0x10000 is no field. */
#define MORTISE__WEIGHT(shape, field)                                                              \
    +(MORTISE__BEGINS(#field, "(nothing") ? 0x100 : MORTISE__BEGINS(#field, "(") ? 1 : 0x10000)
#define MORTISE__WEIGHT_MANY +0x1000000
#define MORTISE__CHECK_NUMBER(shape, weight)                                                       \
    enum { mortise__fields_of_##shape = 0 weight };                                                \
    MORTISE__MUST(mortise__fields_of_##shape < 0x1000000, "'" #shape "' has more than 32 fields: " \
        "put some of them into a MORTISE_RECORD")                                                  \
    MORTISE__MUST((mortise__fields_of_##shape & 0xff0000) == 0, "'" #shape "' has a field "        \
        "without parentheses: it looks like (string, name, \"What it is.\"); where there is none " \
        "stands MORTISE_NO_ARGS")                                                                  \
    MORTISE__MUST((mortise__fields_of_##shape & 0xffff) <= 0x100, "'" #shape "' has "              \
        "MORTISE_NO_ARGS beside a field")

#define MORTISE__IN(shape, id) "field '" #id "' of '" #shape "' "

#define MORTISE__CHECK(shape, field)                                                               \
    MORTISE__MUST(!MORTISE__BEGINS(#field, "(")                                                    \
            || sizeof(MORTISE__STRING(MORTISE__EAT field)) == 1,                                   \
        "in '" #shape "' a comma is missing before " MORTISE__STRING(MORTISE__EAT field))          \
    MORTISE__FIELD(MORTISE__CHECK_FIELD, shape, field)
#define MORTISE__CHECK_MANY
#define MORTISE__CHECK_FIELD(shape, kind, id, known, code, takes, way, member, inner, text, ...)   \
    MORTISE__MUST(known, MORTISE__IN(shape, id) "is of an unknown kind: " #kind " (there are "     \
        "string, integer, number, boolean, json, strings, integers, numbers, booleans, record "    \
        "and records)")                                                                            \
    MORTISE__MUST(!MORTISE__BEGINS(#id, "\""), MORTISE__IN(shape, id) "has a name in quotes: ("    \
        #kind ", name, \"What it is.\")")                                                          \
    MORTISE__MUST(sizeof(#id) <= 65, MORTISE__IN(shape, id) "has a name of more than 64 "          \
        "characters")                                                                              \
    MORTISE__MUST(__builtin_strcmp(#id, "seen") != 0, MORTISE__IN(shape, id) "must be called "     \
        "otherwise: args->seen tells what the model gave")                                         \
    MORTISE__MUST((MORTISE__QUOTED(#text) && sizeof(#text) > 3) || MORTISE__BEGINS(#id, "\""),     \
        MORTISE__IN(shape, id) "has no description: (" #kind ", " #id ", \"What it is.\")")        \
    MORTISE__OPTIONS(MORTISE__CHECK_OPTION, shape, kind, id, takes, way, __VA_ARGS__)              \
    MORTISE__MUST((MORTISE__COUNTED(__VA_ARGS__) & 0x66666660) == 0,                               \
        MORTISE__IN(shape, id) "has an option twice (range and length are at_least and at_most)")  \
    MORTISE__MUST((MORTISE__COUNTED(__VA_ARGS__) & 0x10010) != 0x10010,                            \
        MORTISE__IN(shape, id) "is required and has a fallback, which would never be used: leave " \
        "one out")

#define MORTISE__MEMBER(shape, field) MORTISE__FIELD(MORTISE__MEMBER_FIELD, shape, field)
#define MORTISE__MEMBER_MANY
#define MORTISE__MEMBER_FIELD(shape, kind, id, known, code, takes, way, member, ...) member

#define MORTISE__SEEN(shape, field) MORTISE__FIELD(MORTISE__SEEN_FIELD, shape, field)
#define MORTISE__SEEN_MANY
#define MORTISE__SEEN_FIELD(shape, kind, id, ...) bool id;

#define MORTISE__ROW(shape, field) MORTISE__FIELD(MORTISE__ROW_FIELD, shape, field)
#define MORTISE__ROW_MANY
#define MORTISE__ROW_FIELD(shape, its_kind, id, known, code, takes, way, member, inner, text, ...) \
    {.name = #id,                                                                                  \
     .description = text,                                                                          \
     .kind = code,                                                                                 \
     .flags = MORTISE__COUNTED(__VA_ARGS__) & 0x7,                                                 \
     .offset = offsetof(shape##_args, id),                                                         \
     .seen_offset = offsetof(shape##_args, seen.id),                                               \
     .record = inner,                                                                              \
     MORTISE__OPTIONS(MORTISE__PUT, ~, ~, ~, ~, way, __VA_ARGS__)},

/* ---- options ------------------------------------------------------------------------------- */

/* ~, NAME, (VALUE…), and behind it what should not be there */
#define MORTISE__OPTION_required       ~, required, (),
#define MORTISE__OPTION_fallback(...)  ~, fallback, (__VA_ARGS__),
#define MORTISE__OPTION_at_least(low)  ~, at_least, (low),
#define MORTISE__OPTION_at_most(high)  ~, at_most, (high),
#define MORTISE__OPTION_range(lo, hi)  ~, range, (lo, hi),
#define MORTISE__OPTION_length(lo, hi) ~, length, (lo, hi),
#define MORTISE__OPTION_one_of(...)    ~, one_of, (__VA_ARGS__),
#define MORTISE__OPTION_pattern(...)   ~, pattern, (__VA_ARGS__),
#define MORTISE__OPTION_format(word)   ~, format, (word),

/* pass(NAME, shape, kind, id, takes, way, as it is written, what is behind it, (VALUE…)) each. */
#define MORTISE__OPTIONS(pass, shape, kind, id, takes, way, ...)                                   \
    MORTISE__WORDS(MORTISE__OPTION, (pass, shape, kind, id, takes, way), __VA_ARGS__)
#define MORTISE__OPTION(context, word)                                                             \
    MORTISE__OPTION_1(MORTISE__BARE context, #word, MORTISE__OPTION_##word, _unknown, (), , ~)
#define MORTISE__OPTION_1(...) MORTISE__OPTION_2(__VA_ARGS__)
#define MORTISE__OPTION_2(pass, shape, kind, id, takes, way, word, a, option, values, rest, ...)   \
    pass(option, shape, kind, id, takes, way, word, #rest, values)
#define MORTISE__OPTION_MANY(context)   MORTISE__OPTION_3(MORTISE__BARE context)
#define MORTISE__OPTION_3(...)          MORTISE__OPTION_4(__VA_ARGS__)
#define MORTISE__OPTION_4(pass, ...)    pass(_many, __VA_ARGS__, "", "", ())

/* In hexadecimal digits, of which a 2 was given twice.  The last digit is the field's flags. */
#define MORTISE__COUNTED(...)       (0 MORTISE__OPTIONS(MORTISE__COUNT, ~, ~, ~, ~, ~, __VA_ARGS__))
#define MORTISE__COUNT(option, ...) MORTISE__COUNT_##option
#define MORTISE__COUNT_required     +0x11
#define MORTISE__COUNT_at_least     +0x102
#define MORTISE__COUNT_at_most      +0x1004
#define MORTISE__COUNT_range        +0x1106
#define MORTISE__COUNT_length       +0x1106
#define MORTISE__COUNT_fallback     +0x10000
#define MORTISE__COUNT_one_of       +0x100000
#define MORTISE__COUNT_pattern      +0x1000000
#define MORTISE__COUNT_format       +0x10000000
#define MORTISE__COUNT__unknown
#define MORTISE__COUNT__many
_Static_assert(MORTISE_REQUIRED == 0x1 && MORTISE_HAS_MIN == 0x2 && MORTISE_HAS_MAX == 0x4,
               "mortise: what options count has the flags in its last digit");

#define MORTISE__CHECK_OPTION(option, shape, kind, id, takes, way, word, rest, values)             \
    MORTISE__MUST(sizeof(rest) == 1, MORTISE__IN(shape, id) "lacks a comma before " rest)          \
    MORTISE__CHECK_##option(shape, kind, id, takes, way, word, values)
#define MORTISE__CHECK__unknown(shape, kind, id, takes, way, word, values)                         \
    MORTISE__MUST(0, MORTISE__IN(shape, id) "has an unknown option: " word " (there are "          \
        "required, fallback(VALUE), range(LOW, HIGH), length(LOW, HIGH), at_least(N), "            \
        "at_most(N), one_of(\"A\", \"B\"), pattern(\"REGEX\") and format(WORD))")
#define MORTISE__CHECK__many(shape, kind, id, ...)                                                 \
    MORTISE__MUST(0, MORTISE__IN(shape, id) "has more than 6 options")
#define MORTISE__CHECK_required(...)
#define MORTISE__CHECK_fallback(shape, kind, id, takes, way, word, values)                         \
    MORTISE__MUST(MORTISE__IS_##way values, MORTISE__IN(shape, id) "has " word ", which is none "  \
        "for its kind, " #kind ": " MORTISE__LIKE_##way)

#define MORTISE__LIMITS "range() is for integer and number, length() for string and the lists"
#define MORTISE__CHECK_range(shape, kind, id, takes, way, word, values)                            \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 1, word, MORTISE__LIMITS)                           \
    MORTISE__CHECK_LIMITS(shape, kind, id, takes, word, MORTISE__BARE values)
#define MORTISE__CHECK_length(shape, kind, id, takes, way, word, values)                           \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 6, word, MORTISE__LIMITS)                           \
    MORTISE__CHECK_LIMITS(shape, kind, id, takes, word, MORTISE__BARE values)
#define MORTISE__CHECK_at_least(shape, kind, id, takes, way, word, values)                         \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 7, word,                                            \
        "limits are for numbers, string and lists")                                                \
    MORTISE__CHECK_LIMIT(shape, id, takes, word, MORTISE__BARE values)
#define MORTISE__CHECK_at_most MORTISE__CHECK_at_least
#define MORTISE__CHECK_one_of(shape, kind, id, takes, way, word, values)                           \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 2, word, "one_of() is for string and strings")      \
    MORTISE__MUST(MORTISE__QUOTED(MORTISE__STRING values), MORTISE__IN(shape, id) "has " word      \
        " without choices in quotes: one_of(\"a\", \"b\")")
#define MORTISE__CHECK_pattern(shape, kind, id, takes, way, word, values)                          \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 2, word, "pattern() is for string and strings")     \
    MORTISE__MUST(MORTISE__QUOTED(MORTISE__STRING values), MORTISE__IN(shape, id) "has " word      \
        " without an expression in quotes: pattern(\"^[a-z]+$\")")
#define MORTISE__CHECK_format(shape, kind, id, takes, way, word, values)                           \
    MORTISE__CHECK_MAY(shape, kind, id, takes, 2, word, "format() is for string and strings")      \
    MORTISE__MUST(sizeof(MORTISE__FORMAT values) > 1, MORTISE__IN(shape, id) "has an unknown "     \
        word " (there are date_time, date, time, email, uri, uuid, ipv4, ipv6 and hostname)")

#define MORTISE__CHECK_MAY(shape, kind, id, takes, about, word, rule)                              \
    MORTISE__MUST((takes) & (about), MORTISE__IN(shape, id) "cannot have " word ", being of kind " \
        #kind ": " rule)
#define MORTISE__CHECK_LIMIT(shape, id, takes, word, value)                                        \
    MORTISE__MUST(MORTISE__IS_NUMBER(value)                                                        \
            && ((takes) <= 1 || MORTISE__WHOLE(value))                                             \
            && (!((takes) & 6) || (double)MORTISE__NUMBER(value) >= 0),                            \
        MORTISE__IN(shape, id) "has " word ": limits are numbers, of an integer whole ones, of "   \
        "a length whole ones from 0")
#define MORTISE__CHECK_LIMITS(...) MORTISE__CHECK_LIMITS_1(__VA_ARGS__)
#define MORTISE__CHECK_LIMITS_1(shape, kind, id, takes, word, low, high)                           \
    MORTISE__CHECK_LIMIT(shape, id, takes, word, low)                                              \
    MORTISE__CHECK_LIMIT(shape, id, takes, word, high)                                             \
    MORTISE__MUST(MORTISE__NUMBER(low) <= MORTISE__NUMBER(high), MORTISE__IN(shape, id) "has "     \
        word ", which nothing fits: the lower end comes first")

/* A number or a string reads in JSON as it does in C; true and false are 1 and 0 when they get
 * here; the other kinds bring their JSON text. */
#define MORTISE__IS_string(...)  MORTISE__QUOTED(#__VA_ARGS__)
#define MORTISE__IS_integer(...) MORTISE__DECIMAL(#__VA_ARGS__) && MORTISE__WHOLE(__VA_ARGS__)
#define MORTISE__IS_number(...)  MORTISE__DECIMAL(#__VA_ARGS__)
#define MORTISE__IS_boolean(...) !MORTISE__BEGINS(#__VA_ARGS__, "\"")
#define MORTISE__IS_json(...)  MORTISE__QUOTED(#__VA_ARGS__)

#define MORTISE__LIKE_string  "fallback(\"text\")"
#define MORTISE__LIKE_integer "fallback(12), one whole number in decimal digits"
#define MORTISE__LIKE_number  "fallback(0.5), one number in decimal digits"
#define MORTISE__LIKE_boolean "fallback(true)"
#define MORTISE__LIKE_json  "JSON in quotes, such as fallback(\"[1, 2]\")"

/* What an option puts into the row. */
#define MORTISE__PUT(option, shape, kind, id, takes, way, word, rest, values)                      \
    MORTISE__PUT_##option(way, values)
#define MORTISE__PUT_required(way, values)
#define MORTISE__PUT_fallback(way, values) .fallback = MORTISE__PUT_##way values,
#define MORTISE__PUT_at_least(way, values) .min = (double)MORTISE__NUMBER(MORTISE__BARE values),
#define MORTISE__PUT_at_most(way, values)  .max = (double)MORTISE__NUMBER(MORTISE__BARE values),
#define MORTISE__PUT_range(way, values)    MORTISE__PUT_ENDS values
#define MORTISE__PUT_length(way, values)   MORTISE__PUT_ENDS values
#define MORTISE__PUT_one_of(way, values)                                                           \
    .choices = (const char *const[]){"" MORTISE__BARE values, NULL},
#define MORTISE__PUT_pattern(way, values)  .pattern = "" MORTISE__BARE values,
#define MORTISE__PUT_format(way, values)   .format = MORTISE__FORMAT values,
#define MORTISE__PUT__unknown(way, values)
#define MORTISE__PUT__many(way, values)
#define MORTISE__PUT_ENDS(low, high)                                                               \
    .min = (double)MORTISE__NUMBER(low), .max = (double)MORTISE__NUMBER(high),
#define MORTISE__PUT_string(...)  #__VA_ARGS__
#define MORTISE__PUT_integer(...) #__VA_ARGS__
#define MORTISE__PUT_number(...)  #__VA_ARGS__
#define MORTISE__PUT_boolean(...) (__VA_ARGS__) ? "true" : "false"
#define MORTISE__PUT_json(...)  "" __VA_ARGS__

#define MORTISE__FORMAT(word)     MORTISE__SECOND(MORTISE__FORMAT_##word, "")
#define MORTISE__FORMAT_date_time ~, "date-time"
#define MORTISE__FORMAT_date      ~, "date"
#define MORTISE__FORMAT_time      ~, "time"
#define MORTISE__FORMAT_email     ~, "email"
#define MORTISE__FORMAT_uri       ~, "uri"
#define MORTISE__FORMAT_uuid      ~, "uuid"
#define MORTISE__FORMAT_ipv4      ~, "ipv4"
#define MORTISE__FORMAT_ipv6      ~, "ipv6"
#define MORTISE__FORMAT_hostname  ~, "hostname"

/* ---- tools --------------------------------------------------------------------------------- */

#define MORTISE__FLAGS                                                                             \
    (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_LONG_RUNNING | MORTISE_SERIAL          \
     | MORTISE_SANDBOX_REQUIRED | MORTISE_DESTRUCTIVE | MORTISE_IDEMPOTENT | MORTISE_OPEN_WORLD)

/* NULL is usually ((void *)0). */
#define MORTISE__IS_FIELD(text) (MORTISE__BEGINS(text, "(") && !MORTISE__BEGINS(text, "((void"))

/* Before all else, so that what was forgotten is told before what comes of it. */
#define MORTISE__CHECK_TOOL(tool, words, tool_flags, text)                                         \
    MORTISE__MUST(MORTISE__IS_NUMBER(tool_flags), "'" #tool "' has no flags before its "           \
        "description: MORTISE_READ_ONLY | …, or 0")                                                \
    MORTISE__MUST((MORTISE__NUMBER(tool_flags) & ~MORTISE__FLAGS) == 0, "'" #tool "' has an "      \
        "unknown flag; there are MORTISE_READ_ONLY, MORTISE_CONCURRENCY_SAFE, "                    \
        "MORTISE_LONG_RUNNING and those beside them in mortise/plugin.h")                          \
    MORTISE__MUST(!MORTISE__IS_FIELD(#text) || !MORTISE__IS_NUMBER(tool_flags), "'" #tool "' has " \
        "no description between its flags and its fields")                                         \
    MORTISE__MUST(!MORTISE__BEGINS(#text, "\"") || MORTISE__QUOTED(#text), "'" #tool "' lacks a "  \
        "comma after its description")                                                             \
    MORTISE__MUST(MORTISE__BEGINS(#words, "("), "'" #tool "' has its words without parentheses: "  \
        "(title(\"A title\"), …)")                                                                 \
    MORTISE__EACH_WORD(MORTISE__CHECK_WORD, tool, words)                                           \
    MORTISE__MUST(((0 MORTISE__EACH_WORD(MORTISE__COUNT, tool, words)) & 0x6666666660) == 0,       \
        "'" #tool "' has a word twice")                                                            \
    MORTISE__MUST(((0 MORTISE__EACH_WORD(MORTISE__COUNT, tool, words)) & 0xffff000000) == 0        \
            || (MORTISE__NUMBER(tool_flags) & MORTISE_SANDBOX_REQUIRED),                           \
        "'" #tool "' has a word about its sandbox: mark it MORTISE_SANDBOX_REQUIRED")              \
    MORTISE__MUST(sizeof(#tool) <= 65                                                              \
            || ((0 MORTISE__EACH_WORD(MORTISE__COUNT, tool, words)) & 0x1),                        \
        "'" #tool "' is a name of more than 64 characters")

#define MORTISE__DEFINE(tool, words, tool_flags, text, takes)                                      \
    static const mortise_tool_meta tool##_meta = {                                                 \
        .size = sizeof(mortise_tool_meta),                                                         \
        .flags = MORTISE__NUMBER(tool_flags),                                                      \
        .name = MORTISE__EACH_WORD(MORTISE__NAME, tool, words) #tool,                              \
        .description = MORTISE__SECOND(MORTISE__NO_TEXT text, text),                               \
        takes,                                                                                     \
        MORTISE__EACH_WORD(MORTISE__SAY, tool, words)};                                            \
    static const mortise_tool tool##_tool = {                                                      \
        .size = sizeof(mortise_tool),                                                              \
        .meta = &tool##_meta,                                                                      \
        .run = tool##_run,                                                                         \
        MORTISE__EACH_WORD(MORTISE__DO, tool, words)}
#define MORTISE__NO_TEXT(...) ~, NULL

/* ~, NAME, (VALUE…), and behind it what should not be there; MORTISE_TOOL has no words. */
#define MORTISE__WORD_                   ~, _no_word, (),
#define MORTISE__WORD_name(...)          ~, name, (__VA_ARGS__),
#define MORTISE__WORD_title(...)         ~, title, (__VA_ARGS__),
#define MORTISE__WORD_output_schema(...) ~, output_schema, (__VA_ARGS__),
#define MORTISE__WORD_scopes(...)        ~, scopes, (__VA_ARGS__),
#define MORTISE__WORD_examples(...)      ~, examples, (__VA_ARGS__),
#define MORTISE__WORD_reads(...)         ~, reads, (__VA_ARGS__),
#define MORTISE__WORD_runs(...)          ~, runs, (__VA_ARGS__),
#define MORTISE__WORD_inside(...)        ~, inside, (__VA_ARGS__),
#define MORTISE__WORD_prepare(...)       ~, prepare, (__VA_ARGS__),

/* pass(NAME, tool, as it is written, what is behind it, (VALUE…)) for each */
#define MORTISE__EACH_WORD(pass, tool, words)                                                      \
    MORTISE__EACH_WORD_1(pass, tool, MORTISE__SECOND(MORTISE__PAREN words, (, "", "", "", "")))
#define MORTISE__EACH_WORD_1(pass, tool, words)                                                    \
    MORTISE__WORDS_OF_TOOL(MORTISE__WORD, (pass, tool), MORTISE__BARE words)
#define MORTISE__WORD(context, word)                                                               \
    MORTISE__WORD_1(MORTISE__BARE context, #word, MORTISE__WORD_##word, _unknown_word, (), , ~)
#define MORTISE__WORD_1(...) MORTISE__WORD_2(__VA_ARGS__)
#define MORTISE__WORD_2(pass, tool, word, a, name, values, rest, ...)                              \
    pass(name, tool, word, #rest, values)
#define MORTISE__WORD_MANY(context) MORTISE__WORD_3(MORTISE__BARE context)
#define MORTISE__WORD_3(...)        MORTISE__WORD_4(__VA_ARGS__)
#define MORTISE__WORD_4(pass, tool) pass(_many_words, tool, "", "", ())

#define MORTISE__COUNT__no_word
#define MORTISE__COUNT_name          +0x11
#define MORTISE__COUNT_title         +0x100
#define MORTISE__COUNT_output_schema +0x1000
#define MORTISE__COUNT_scopes        +0x10000
#define MORTISE__COUNT_examples      +0x100000
#define MORTISE__COUNT_reads         +0x1000000
#define MORTISE__COUNT_runs          +0x10000000
#define MORTISE__COUNT_inside        +0x100000000
#define MORTISE__COUNT_prepare       +0x1000000000
#define MORTISE__COUNT__unknown_word
#define MORTISE__COUNT__many_words   +0x10 + 0x10

#define MORTISE__CHECK_WORD(name, tool, word, rest, values)                                        \
    MORTISE__MUST(sizeof(rest) == 1, "'" #tool "' lacks a comma before " rest)                     \
    MORTISE__CHECK_##name(tool, word, values)
#define MORTISE__CHECK__no_word(...)
#define MORTISE__CHECK__unknown_word(tool, word, values)                                           \
    MORTISE__MUST(0, "'" #tool "' has an unknown word: " word " (there are name(\"NAME\"), "       \
        "title(\"TITLE\"), output_schema(\"JSON\"), scopes(\"A\", \"B\"), "                         \
        "examples(\"JSON\", \"JSON\"), reads(\"PATH\"), runs(\"PATH\"), inside(FLAGS) and "          \
        "prepare(FUNCTION))")
#define MORTISE__CHECK__many_words(...)
#define MORTISE__CHECK_name(tool, word, values)                                                    \
    MORTISE__CHECK_title(tool, word, values)                                                       \
    MORTISE__MUST(sizeof(MORTISE__BARE values) <= 65, "'" #tool "' has " word ", a name of more "  \
        "than 64 characters")
#define MORTISE__CHECK_title(tool, word, values)                                                   \
    MORTISE__MUST(MORTISE__QUOTED(MORTISE__STRING values), "'" #tool "' has " word ", which "      \
        "takes text in quotes")
#define MORTISE__CHECK_output_schema MORTISE__CHECK_title
#define MORTISE__CHECK_scopes        MORTISE__CHECK_title
#define MORTISE__CHECK_examples      MORTISE__CHECK_title
#define MORTISE__CHECK_reads         MORTISE__CHECK_title
#define MORTISE__CHECK_runs          MORTISE__CHECK_title
#define MORTISE__CHECK_inside(tool, word, values)                                                  \
    MORTISE__MUST(((MORTISE__BARE values) & ~MORTISE__INSIDE) == 0, "'" #tool "' has " word          \
        "; there are MORTISE_INSIDE_PROCESSES, MORTISE_INSIDE_LIBRARIES and MORTISE_INSIDE_JIT")
#define MORTISE__INSIDE                                                                            \
    (MORTISE_INSIDE_PROCESSES | MORTISE_INSIDE_LIBRARIES | MORTISE_INSIDE_JIT)
#define MORTISE__CHECK_prepare(...)

/* What the model calls it: the last of `1 ? "NAME" : "tool"`. */
#define MORTISE__NAME(name, tool, word, rest, values) MORTISE__NAME_##name(values)
#define MORTISE__NAME__no_word(values)
#define MORTISE__NAME_name(values) 1 ? MORTISE__BARE values :
#define MORTISE__NAME_title(values)
#define MORTISE__NAME_output_schema(values)
#define MORTISE__NAME_scopes(values)
#define MORTISE__NAME_examples(values)
#define MORTISE__NAME_reads(values)
#define MORTISE__NAME_runs(values)
#define MORTISE__NAME_inside(values)
#define MORTISE__NAME_prepare(values)
#define MORTISE__NAME__unknown_word(values)
#define MORTISE__NAME__many_words(values)

#define MORTISE__SAY(name, tool, word, rest, values) MORTISE__SAY_##name(values)
#define MORTISE__SAY__no_word(values)
#define MORTISE__SAY_name(values)
#define MORTISE__SAY_title(values)         .title = "" MORTISE__BARE values,
#define MORTISE__SAY_output_schema(values) .output_schema = "" MORTISE__BARE values,
#define MORTISE__SAY_scopes(values)                                                                \
    .scopes = (const char *const[]){"" MORTISE__BARE values, NULL},
#define MORTISE__SAY_examples(values)                                                              \
    .examples = (const char *const[]){"" MORTISE__BARE values, NULL},
#define MORTISE__SAY_reads(values)                                                                 \
    .inside_reads = (const char *const[]){"" MORTISE__BARE values, NULL},
#define MORTISE__SAY_runs(values)                                                                  \
    .inside_runs = (const char *const[]){"" MORTISE__BARE values, NULL},
#define MORTISE__SAY_inside(values) .inside = MORTISE__BARE values,
#define MORTISE__SAY_prepare(values)
#define MORTISE__SAY__unknown_word(values)
#define MORTISE__SAY__many_words(values)

/* What goes into the tool itself. */
#define MORTISE__DO(name, tool, word, rest, values) MORTISE__DO_##name(values)
#define MORTISE__DO__no_word(values)
#define MORTISE__DO_name(values)
#define MORTISE__DO_title(values)
#define MORTISE__DO_output_schema(values)
#define MORTISE__DO_scopes(values)
#define MORTISE__DO_examples(values)
#define MORTISE__DO_reads(values)
#define MORTISE__DO_runs(values)
#define MORTISE__DO_inside(values)
#define MORTISE__DO_prepare(values) .prepare = MORTISE__BARE values,
#define MORTISE__DO__unknown_word(values)
#define MORTISE__DO__many_words(values)

/* ---- lists --------------------------------------------------------------------------------- */

#define MORTISE__TOOL_POINTER(ignored, tool) &tool##_tool,
#define MORTISE__TOOL_POINTER_MANY           mortise_plugin_has_more_than_32_tools
#define MORTISE__HOOK_POINTER(ignored, hook) &hook##_hooks,
#define MORTISE__HOOK_POINTER_MANY           mortise_plugin_has_more_than_32_hooks

/* Words: m(c, word) for up to 6, closed with four empty texts; m##_MANY(c) for more. */
#define MORTISE__WORDS(m, c, ...)                                                                  \
    MORTISE__WORDS_PICK(__VA_ARGS__, MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W_MANY,            \
        MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W6, MORTISE__W5, MORTISE__W4,  \
        MORTISE__W3, MORTISE__W2, MORTISE__W1, MORTISE__W0, MORTISE__W0, MORTISE__W0, MORTISE__W0, \
        ~)                                                                                         \
    (m, c, __VA_ARGS__)
#define MORTISE__WORDS_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15,      \
                            _16, e, ...)                                                           \
    e
/* The same for up to 10. */
#define MORTISE__WORDS_OF_TOOL(m, c, ...)                                                          \
    MORTISE__WORDS_PICK_10(__VA_ARGS__, MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W_MANY,         \
        MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W_MANY, MORTISE__W10, MORTISE__W9, MORTISE__W8, \
        MORTISE__W7, MORTISE__W6, MORTISE__W5, MORTISE__W4, MORTISE__W3, MORTISE__W2,              \
        MORTISE__W1, MORTISE__W0, MORTISE__W0, MORTISE__W0, MORTISE__W0, ~)                        \
    (m, c, __VA_ARGS__)
#define MORTISE__WORDS_PICK_10(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15,   \
                               _16, _17, _18, _19, _20, e, ...)                                    \
    e
#define MORTISE__W_MANY(m, c, ...)   m##_MANY(c)
#define MORTISE__W0(m, c, ...)
#define MORTISE__W1(m, c, word, ...) m(c, word)
#define MORTISE__W2(m, c, word, ...) m(c, word) MORTISE__W1(m, c, __VA_ARGS__)
#define MORTISE__W3(m, c, word, ...) m(c, word) MORTISE__W2(m, c, __VA_ARGS__)
#define MORTISE__W4(m, c, word, ...) m(c, word) MORTISE__W3(m, c, __VA_ARGS__)
#define MORTISE__W5(m, c, word, ...) m(c, word) MORTISE__W4(m, c, __VA_ARGS__)
#define MORTISE__W6(m, c, word, ...) m(c, word) MORTISE__W5(m, c, __VA_ARGS__)
#define MORTISE__W7(m, c, word, ...) m(c, word) MORTISE__W6(m, c, __VA_ARGS__)
#define MORTISE__W8(m, c, word, ...) m(c, word) MORTISE__W7(m, c, __VA_ARGS__)
#define MORTISE__W9(m, c, word, ...) m(c, word) MORTISE__W8(m, c, __VA_ARGS__)
#define MORTISE__W10(m, c, word, ...) m(c, word) MORTISE__W9(m, c, __VA_ARGS__)

/* Each: m(c, x) for up to 32 x; m##_MANY for more. */
#define MORTISE__EACH(m, c, ...)                                                                   \
    MORTISE__EACH_PICK(__VA_ARGS__, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,             \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,       \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,       \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,       \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,       \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY,       \
        MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E_MANY, MORTISE__E32,          \
        MORTISE__E31, MORTISE__E30, MORTISE__E29, MORTISE__E28, MORTISE__E27, MORTISE__E26,        \
        MORTISE__E25, MORTISE__E24, MORTISE__E23, MORTISE__E22, MORTISE__E21, MORTISE__E20,        \
        MORTISE__E19, MORTISE__E18, MORTISE__E17, MORTISE__E16, MORTISE__E15, MORTISE__E14,        \
        MORTISE__E13, MORTISE__E12, MORTISE__E11, MORTISE__E10, MORTISE__E9, MORTISE__E8,          \
        MORTISE__E7, MORTISE__E6, MORTISE__E5, MORTISE__E4, MORTISE__E3, MORTISE__E2,              \
        MORTISE__E1, ~)                                                                            \
    (m, c, __VA_ARGS__)
#define MORTISE__EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16,  \
                           _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30,   \
                           _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44,   \
                           _45, _46, _47, _48, _49, _50, _51, _52, _53, _54, _55, _56, _57, _58,   \
                           _59, _60, _61, _62, _63, _64, e, ...)                                   \
    e
#define MORTISE__E_MANY(m, c, ...) m##_MANY
#define MORTISE__E1(m, c, x)       m(c, x)
#define MORTISE__E2(m, c, x, ...)  m(c, x) MORTISE__E1(m, c, __VA_ARGS__)
#define MORTISE__E3(m, c, x, ...)  m(c, x) MORTISE__E2(m, c, __VA_ARGS__)
#define MORTISE__E4(m, c, x, ...)  m(c, x) MORTISE__E3(m, c, __VA_ARGS__)
#define MORTISE__E5(m, c, x, ...)  m(c, x) MORTISE__E4(m, c, __VA_ARGS__)
#define MORTISE__E6(m, c, x, ...)  m(c, x) MORTISE__E5(m, c, __VA_ARGS__)
#define MORTISE__E7(m, c, x, ...)  m(c, x) MORTISE__E6(m, c, __VA_ARGS__)
#define MORTISE__E8(m, c, x, ...)  m(c, x) MORTISE__E7(m, c, __VA_ARGS__)
#define MORTISE__E9(m, c, x, ...)  m(c, x) MORTISE__E8(m, c, __VA_ARGS__)
#define MORTISE__E10(m, c, x, ...) m(c, x) MORTISE__E9(m, c, __VA_ARGS__)
#define MORTISE__E11(m, c, x, ...) m(c, x) MORTISE__E10(m, c, __VA_ARGS__)
#define MORTISE__E12(m, c, x, ...) m(c, x) MORTISE__E11(m, c, __VA_ARGS__)
#define MORTISE__E13(m, c, x, ...) m(c, x) MORTISE__E12(m, c, __VA_ARGS__)
#define MORTISE__E14(m, c, x, ...) m(c, x) MORTISE__E13(m, c, __VA_ARGS__)
#define MORTISE__E15(m, c, x, ...) m(c, x) MORTISE__E14(m, c, __VA_ARGS__)
#define MORTISE__E16(m, c, x, ...) m(c, x) MORTISE__E15(m, c, __VA_ARGS__)
#define MORTISE__E17(m, c, x, ...) m(c, x) MORTISE__E16(m, c, __VA_ARGS__)
#define MORTISE__E18(m, c, x, ...) m(c, x) MORTISE__E17(m, c, __VA_ARGS__)
#define MORTISE__E19(m, c, x, ...) m(c, x) MORTISE__E18(m, c, __VA_ARGS__)
#define MORTISE__E20(m, c, x, ...) m(c, x) MORTISE__E19(m, c, __VA_ARGS__)
#define MORTISE__E21(m, c, x, ...) m(c, x) MORTISE__E20(m, c, __VA_ARGS__)
#define MORTISE__E22(m, c, x, ...) m(c, x) MORTISE__E21(m, c, __VA_ARGS__)
#define MORTISE__E23(m, c, x, ...) m(c, x) MORTISE__E22(m, c, __VA_ARGS__)
#define MORTISE__E24(m, c, x, ...) m(c, x) MORTISE__E23(m, c, __VA_ARGS__)
#define MORTISE__E25(m, c, x, ...) m(c, x) MORTISE__E24(m, c, __VA_ARGS__)
#define MORTISE__E26(m, c, x, ...) m(c, x) MORTISE__E25(m, c, __VA_ARGS__)
#define MORTISE__E27(m, c, x, ...) m(c, x) MORTISE__E26(m, c, __VA_ARGS__)
#define MORTISE__E28(m, c, x, ...) m(c, x) MORTISE__E27(m, c, __VA_ARGS__)
#define MORTISE__E29(m, c, x, ...) m(c, x) MORTISE__E28(m, c, __VA_ARGS__)
#define MORTISE__E30(m, c, x, ...) m(c, x) MORTISE__E29(m, c, __VA_ARGS__)
#define MORTISE__E31(m, c, x, ...) m(c, x) MORTISE__E30(m, c, __VA_ARGS__)
#define MORTISE__E32(m, c, x, ...) m(c, x) MORTISE__E31(m, c, __VA_ARGS__)

#endif
