// A plugin in C++ (11 and later), from <mortise/plugin.h> alone.
//
//     c++ -std=c++17 -shared -fPIC -fvisibility=hidden -I INCLUDE roman.cpp -o roman.so
//
// Two rules beyond those of C: no exception may leave a function that the host calls, and the
// tables that the host reads are plain structs.
#include <atomic>
#include <exception>
#include <new>
#include <string>

#include <mortise/plugin.h>

namespace {

// ---- what the tool does: nothing here knows of mortise ----

class Scribe {
public:
    std::string write(int64_t number)
    {
        static const struct {
            int64_t value;
            const char *letters;
        } steps[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
                     {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
        std::string out;
        for (const auto &step : steps)
            for (; number >= step.value; number -= step.value)
                out += step.letters;
        ++written_;
        return out;
    }

    long written() const { return written_; }

private:
    std::atomic<long> written_{0}; // one Scribe serves all calls, which may overlap
};

// ---- what the model is told, and where its argument goes ----

struct RomanArgs {
    int64_t number;
    bool saw_number;
};

const mortise_field fields[] = {
    {"number", "The number to write, from 1 to 3999.", MORTISE_INTEGER,
     MORTISE_REQUIRED | MORTISE_HAS_MIN | MORTISE_HAS_MAX, offsetof(RomanArgs, number),
     offsetof(RomanArgs, saw_number), 1, 3999, nullptr, nullptr, nullptr, nullptr, nullptr}};

const mortise_shape shape = {sizeof(mortise_shape), sizeof(RomanArgs), sizeof(mortise_field), 1, fields};

// Member by member: the interface's structs grow, and what is not named is absent.
mortise_tool_meta make_meta()
{
    mortise_tool_meta made = mortise_tool_meta();
    made.size = sizeof(made);
    made.flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE;
    made.name = "roman";
    made.description = "Write a number in Roman numerals.";
    made.shape = &shape;
    made.title = "Roman numerals";
    return made;
}

const mortise_tool_meta meta = make_meta();

// ---- the border ----

mortise_status fail(mortise_call *call, const std::string &message)
{
    mortise_error error = {sizeof(mortise_error), MORTISE_INTERNAL, nullptr, nullptr,
                           message.data(), message.size(), 0};
    return call->ops->fail(call, &error);
}

mortise_status run(const mortise_tool *self, mortise_call *call, const void *args)
try {
    const auto &roman = *static_cast<const RomanArgs *>(args);
    const std::string text = static_cast<Scribe *>(self->state)->write(roman.number);
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text.data(), text.size());
} catch (const std::exception &problem) {
    return fail(call, problem.what());
} catch (...) {
    return MORTISE_FAILED;
}

// Everything that one loading of the plugin has.
struct Plugin {
    Scribe scribe;
    mortise_tool tool;
    const mortise_tool *tools[1];
    mortise_plugin face;
};

void close(mortise_plugin *face)
{
    delete reinterpret_cast<Plugin *>(reinterpret_cast<char *>(face) - offsetof(Plugin, face));
}

} // namespace

const mortise_stamp mortise_plugin_stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR};

mortise_plugin *tool_definition(const mortise_host *host)
{
    auto *plugin = new (std::nothrow) Plugin();
    if (!plugin) {
        host->refuse(host, "out of memory");
        return nullptr;
    }
    plugin->tool = mortise_tool();
    plugin->tool.size = sizeof(mortise_tool);
    plugin->tool.meta = &meta;
    plugin->tool.state = &plugin->scribe;
    plugin->tool.run = run;
    plugin->tools[0] = &plugin->tool;
    plugin->face = {sizeof(mortise_plugin), 0, "roman", "1.0.0", plugin->tools, 1, nullptr, 0, close};
    return &plugin->face;
}
