/* expect: mortise/tool.h is for C: in C\+\+ write the structs of mortise/plugin.h */
/* compiler: c++ */
#include <mortise/tool.h>

