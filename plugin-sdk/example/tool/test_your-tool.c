#include "your-tool.c"
int main(void)
{
    return your_tool_tool.size == 0;
}
