/* Tools that do what breaks hosts: bytes that are no text, and a terminal left in another mode. */
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <mortise/tool.h>

MORTISE_TOOL(say_bytes, MORTISE_READ_ONLY, "Say what is no text.", MORTISE_NO_ARGS);

static mortise_status say_bytes(mortise_call *call, const say_bytes_args *args)
{
    static const char bytes[] = "nul \0, byte \xFF, half \xED\xA0\xBD, cut \xE6\x97";
    (void)args;
    return mortise_reply_text(call, bytes, sizeof(bytes) - 1);
}

/* As a program that a tool starts, and that is killed, may leave it. */
MORTISE_TOOL(spoil_terminal, MORTISE_READ_ONLY, "Take the terminal's echo and lines away.",
    MORTISE_NO_ARGS);

static mortise_status spoil_terminal(mortise_call *call, const spoil_terminal_args *args)
{
    struct termios mode;
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    (void)args;
    if (terminal < 0 || tcgetattr(terminal, &mode) != 0)
        return mortise_reply(call, "there is no terminal");
    cfmakeraw(&mode);
    tcsetattr(terminal, TCSANOW, &mode);
    close(terminal);
    return mortise_reply(call, "it is spoilt");
}

MORTISE_PLUGIN(.name = "e2e_faults", .version = "1.0.0",
    .tools = MORTISE_TOOLS(say_bytes, spoil_terminal));
