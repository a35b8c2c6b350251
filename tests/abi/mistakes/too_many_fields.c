/* expect: 'many' has more than 32 fields: put some of them into a MORTISE_RECORD */
#include <mortise/tool.h>
MORTISE_TOOL(many, 0, "Many.",
    (integer, a1, "One of them."),
    (integer, a2, "One of them."),
    (integer, a3, "One of them."),
    (integer, a4, "One of them."),
    (integer, a5, "One of them."),
    (integer, a6, "One of them."),
    (integer, a7, "One of them."),
    (integer, a8, "One of them."),
    (integer, a9, "One of them."),
    (integer, a10, "One of them."),
    (integer, a11, "One of them."),
    (integer, a12, "One of them."),
    (integer, a13, "One of them."),
    (integer, a14, "One of them."),
    (integer, a15, "One of them."),
    (integer, a16, "One of them."),
    (integer, a17, "One of them."),
    (integer, a18, "One of them."),
    (integer, a19, "One of them."),
    (integer, a20, "One of them."),
    (integer, a21, "One of them."),
    (integer, a22, "One of them."),
    (integer, a23, "One of them."),
    (integer, a24, "One of them."),
    (integer, a25, "One of them."),
    (integer, a26, "One of them."),
    (integer, a27, "One of them."),
    (integer, a28, "One of them."),
    (integer, a29, "One of them."),
    (integer, a30, "One of them."),
    (integer, a31, "One of them."),
    (integer, a32, "One of them."),
    (integer, a33, "One of them."));
static mortise_status many(mortise_call *call, const many_args *args)
{
    (void)args;
    return mortise_reply(call, "many");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(many));
