#include "test_child.h"

#include "execute_code.c"

#include <time.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    mortise_test *test = mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    execute_code_tool.prepare(&execute_code_tool, NULL);
    static char code[1<<20]; size_t n = fread(code,1,sizeof(code)-1,stdin); code[n]=0;
    int reps = argc > 2 ? atoi(argv[2]) : 1;
    double best=1e9,sum=0;
    const struct answer *a = NULL;
    for (int i=0;i<reps;i++){
    struct timespec t0,t1; clock_gettime(CLOCK_MONOTONIC,&t0);
    if (!strcmp(argv[1],"none")) { pid_t c = fork(); if (!c) _exit(0); waitpid(c,NULL,0); } else
    a = child_run(test, &execute_code_tool, &(execute_code_args){.code=code,.language=argv[1]}, 20000);
    clock_gettime(CLOCK_MONOTONIC,&t1);
    double d=(double)(t1.tv_sec-t0.tv_sec)*1e3+(double)(t1.tv_nsec-t0.tv_nsec)/1e6; sum+=d; if(d<best)best=d;
    }
    if(!a) {printf("min %.2f mean %.2f\n",best,sum/reps); return 0;}
    printf("end=%d ok=%d code=%s chunks=%zu ms min %.2f mean %.2f\n%s\n", a->end, a->is_ok, a->code, a->chunks, best, sum/reps, a->text);
    return 0;
}
