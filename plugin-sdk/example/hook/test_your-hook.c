#include "your-hook.c"
int main(void)
{
    return your_hook_hooks.size == 0;
}
